import { connect } from 'node:net';

import { afterEach, describe, expect, it } from 'vitest';

import type { Answer, Call } from '../../../src/kernel/http/route.js';
import { startApp, type TestApp, testPrincipal } from '../../support/http.js';
import { looseRoute, openRoute, runRoute, streamed, streams, untilLeft } from './fake-routes.js';

let app: TestApp;
afterEach(() => app.stop());

describe('the log of requests', () => {
  it('has one line for each, with its key, its duration and no secret [10.6e]', async () => {
    const keys = { good: testPrincipal(), poor: testPrincipal({ keyId: 'poor', scopes: [] }) };
    app = await startApp([looseRoute], { keys });
    await app.post('/loose?key=hush', { key: 'hush' }, { 'x-request-id': 'r1' });
    await app.post('/loose', {}, { authorization: 'Bearer poor', 'x-request-id': 'r2' });
    await app.post('/loose', {}, { authorization: 'Bearer hush', 'x-request-id': 'r3' });
    const lines = app.log.lines.filter(({ message }) => message === 'request').map(({ fields }) => fields);
    const each = { operation: 'loose', method: 'POST', path: '/loose', durationMs: expect.any(Number) };
    expect(lines).toEqual([
      { requestId: 'r1', tenant: 'local', keyId: 'k1', ...each, status: 200 },
      { requestId: 'r2', tenant: 'local', keyId: 'poor', ...each, status: 403 },
      { requestId: 'r3', ...each, status: 401 },
    ]);
    expect(JSON.stringify(app.log.lines)).not.toContain('hush');
  });
});

describe('the rate limit', () => {
  const keys = {
    good: testPrincipal({ rateLimit: { limit: 3, windowSeconds: 60 } }),
    free: testPrincipal({ keyId: 'free' }),
    poor: testPrincipal({ keyId: 'poor', scopes: [], rateLimit: { limit: 3, windowSeconds: 60 } }),
  };
  const headersOf = ({ headers }: { headers: Headers }) => [headers.get('ratelimit-policy'), headers.get('ratelimit')];

  it('is shown on every authenticated response, refusals included [1.4d]', async () => {
    app = await startApp([looseRoute, openRoute], { keys });
    expect(headersOf(await app.post('/loose'))).toEqual(['"default";q=3;w=60', '"default";r=2;t=60']);
    await app.clock.advance(1_500);
    expect(headersOf(await app.request('POST', '/loose', { body: '{' }))).toEqual([
      '"default";q=3;w=60',
      '"default";r=1;t=59',
    ]);
    const forbidden = await app.post('/loose', {}, { authorization: 'Bearer poor' });
    expect([forbidden.status, ...headersOf(forbidden)]).toEqual([403, '"default";q=3;w=60', '"default";r=2;t=60']);
    expect(headersOf(await app.get('/open'))).toEqual([null, null]);
    expect(headersOf(await app.post('/loose', {}, { authorization: '' }))).toEqual([null, null]);
  });

  it('refuses requests over it, with the time to retry, and refills completely [1.4b]', async () => {
    app = await startApp([looseRoute], { keys });
    for (let sent = 0; sent < 3; sent += 1) expect((await app.post('/loose')).status).toBe(200);
    await app.clock.advance(20_000);
    const over = await app.post('/loose');
    expect([over.status, over.body.error.code, over.headers.get('retry-after')]).toEqual([429, 'RATE_LIMITED', '40']);
    expect(over.body.error.message).toBe('This API key has sent too many requests. Try again in 40 s.');
    expect(headersOf(over)).toEqual(['"default";q=3;w=60', '"default";r=0;t=40']);
    await app.clock.advance(40_000);
    expect(headersOf(await app.post('/loose'))).toEqual(['"default";q=3;w=60', '"default";r=2;t=60']);
  });

  it('is not mentioned to a key that has none [1.4d]', async () => {
    app = await startApp([looseRoute], { keys });
    const reply = await app.post('/loose', {}, { authorization: 'Bearer free' });
    expect([reply.status, ...headersOf(reply)]).toEqual([200, null, null]);
  });
});

describe('the request id', () => {
  const idOf = async (headers: Record<string, string>) => {
    const reply = await app.get('/open', headers);
    expect(reply.body.requestId).toBe(reply.headers.get('x-request-id'));
    return reply.body.requestId as string;
  };
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736';

  it("is the client's if it is visible and short enough [1.5g]", async () => {
    app = await startApp([openRoute]);
    expect(await idOf({ 'x-request-id': 'a-1/~' })).toBe('a-1/~');
    expect(await idOf({ 'x-request-id': 'x'.repeat(128) })).toBe('x'.repeat(128));
    for (const bad of ['x'.repeat(129), 'two words', 'é', ''])
      expect(await idOf({ 'x-request-id': bad })).not.toBe(bad);
  });

  it('is the trace of a traceparent if no id is sent [1.5g]', async () => {
    app = await startApp([openRoute]);
    const traceparent = `00-${trace}-00f067aa0ba902b7-01`;
    expect(await idOf({ traceparent })).toBe(trace);
    expect(await idOf({ traceparent, 'x-request-id': 'mine' })).toBe('mine');
    for (const bad of [`ff-${trace}-00f067aa0ba902b7-01`, `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, 'nonsense']) {
      expect(await idOf({ traceparent: bad })).not.toContain(trace);
    }
  });

  it('is generated when the client sent none that can be used [1.5g]', async () => {
    app = await startApp([openRoute]);
    const [one, other] = [await idOf({}), await idOf({})];
    expect(one).not.toBe(other);
    expect(one).toMatch(/^[\w-]{1,128}$/);
  });
});

describe('a handler', () => {
  it('gets the caller, the headers, and a command id', async () => {
    let seen: Call | undefined;
    const handler = (call: Call): Answer => {
      seen = call;
      return { status: 202, headers: { Location: '/there' }, body: null };
    };
    app = await startApp([runRoute(handler)]);
    const reply = await app.post('/run', {}, { 'anima-timeline': 't1' });
    expect([reply.status, reply.headers.get('location'), reply.text]).toEqual([202, '/there', 'null']);
    expect(seen?.principal).toEqual(testPrincipal());
    expect(seen?.header('Anima-Timeline')).toBe('t1');
    expect(seen?.commandId).toMatch(/^[\w-]+$/);
  });

  it('may return text, or nothing', async () => {
    app = await startApp([
      runRoute(() => ({ raw: { type: 'text/plain', content: 'ä' } })),
      runRoute(() => ({ status: 204 }), { operationId: 'none', method: 'DELETE', path: '/none' }),
    ]);
    const text = await app.post('/run');
    expect([text.headers.get('content-type'), text.headers.get('content-length'), text.text]).toEqual([
      'text/plain',
      '2',
      'ä',
    ]);
    const none = await app.request('DELETE', '/none');
    expect([none.status, none.text]).toEqual([204, '']);
  });

  it('marks every response of a deprecated route [1.9b]', async () => {
    app = await startApp([runRoute(() => ({ body: {} }), { deprecated: '2026-01-31' })]);
    for (const reply of [await app.post('/run'), await app.post('/run', {}, { authorization: '' })]) {
      expect(reply.headers.get('deprecation')).toBe('@1769817600');
      expect(reply.headers.get('link')).toBe('</docs#run>; rel="deprecation"');
    }
  });

  it('has its stream cut off, never mixed, when the client sends invalid HTTP', async () => {
    const stream = runRoute(() => streamed(':\n\n', untilLeft), { method: 'GET', responses: streams('endless') });
    app = await startApp([stream]);
    const reply = await new Promise<string>((resolve) => {
      let text = '';
      const socket = connect(app.port, '127.0.0.1', () => {
        socket.write('GET /run HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\n\r\n');
      });
      socket.on('data', (chunk) => {
        if (text === '') socket.write('rubbish\r\n\r\n');
        text += chunk.toString();
      });
      socket.on('close', () => resolve(text));
    });
    expect(reply).toMatch(/^HTTP\/1\.1 200 /);
    expect(reply).not.toContain('HTTP/1.1 400');
  });

  it('may stream, with the headers of every response', async () => {
    const stream = runRoute(() => streamed('data: 1\n\n'), { method: 'GET', responses: streams('endless') });
    app = await startApp([stream], { keys: { good: testPrincipal({ rateLimit: { limit: 3, windowSeconds: 60 } }) } });
    const reply = await app.get('/run', { 'x-request-id': 'r1' });
    expect([reply.status, reply.headers.get('x-request-id'), reply.headers.get('ratelimit'), reply.text]).toEqual([
      200,
      'r1',
      '"default";r=2;t=60',
      'data: 1\n\n',
    ]);
  });

  it('is not run when the client leaves before its body is complete, and nothing is reported', async () => {
    let ran = false;
    app = await startApp([
      runRoute(() => {
        ran = true;
        return {};
      }),
    ]);
    await new Promise<void>((resolve) => {
      const socket = connect(app.port, '127.0.0.1', () => {
        socket.write(
          'POST /run HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"a"',
          () => {
            setTimeout(() => socket.destroy(), 50);
          },
        );
      });
      socket.on('close', () => setTimeout(resolve, 50));
    });
    expect(ran).toBe(false);
    expect(app.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });
});
