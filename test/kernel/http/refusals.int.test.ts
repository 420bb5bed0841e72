import { Type } from '@sinclair/typebox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { Rejection } from '../../../src/kernel/base/rejection.js';
import { startApp, type TestApp, testPrincipal } from '../../support/http.js';
import { echoRoute, looseRoute, openRoute, runRoute, thingRoute, streamed, streams } from './fake-routes.js';

const shortRoute = runRoute(() => ({ body: {} }), {
  operationId: 'short',
  path: '/rules',
  scope: 'rules',
  shortForbidden: true,
});
const forbiddenRoute = runRoute(() => ({ body: {} }), {
  operationId: 'switchedOff',
  path: '/off',
  forbids: ({ keyId }) => new Rejection('FORBIDDEN', { message: `Switched off for ${keyId}.` }),
});
const defectRoute = runRoute(
  () => {
    throw new Error('the password of the database is hunter2');
  },
  { operationId: 'defect', path: '/defect' },
);
const conflictRoute = runRoute(
  () => {
    throw new Rejection('CONFLICT', { details: { why: 'twice' } });
  },
  { operationId: 'conflict', path: '/conflict' },
);
const downRoute = runRoute(
  () => {
    throw new Rejection('STORE_UNAVAILABLE', { retryAfter: 2 });
  },
  { operationId: 'down', path: '/down' },
);
const streamRoute = runRoute(() => streamed(''), {
  operationId: 'stream',
  method: 'GET',
  path: '/stream',
  responses: streams('endless'),
});

describe('refusals', () => {
  let app: TestApp;
  const limited = { rateLimit: { limit: 1, windowSeconds: 60 } };

  beforeAll(async () => {
    app = await startApp(
      [
        echoRoute,
        looseRoute,
        openRoute,
        thingRoute,
        shortRoute,
        forbiddenRoute,
        defectRoute,
        conflictRoute,
        downRoute,
        streamRoute,
      ],
      {
        keys: {
          good: testPrincipal(),
          poor: testPrincipal({ keyId: 'poor', scopes: [] }),
          used: testPrincipal({ keyId: 'used', ...limited }),
          usedPoor: testPrincipal({ keyId: 'usedPoor', scopes: [], ...limited }),
        },
      },
    );
  });
  afterAll(() => app.stop());

  it.each(['/loose', '/open'])(
    'meet two Authorization headers on %s, even if one of them is valid [1.3e]',
    async (path) => {
      const method = path === '/open' ? 'GET' : 'POST';
      for (const keys of [
        ['good', 'bad'],
        ['bad', 'good'],
        ['good', 'good'],
      ]) {
        const headers = keys.map((key) => `authorization: Bearer ${key}\r\n`).join('');
        const reply = await app.raw(`${method} ${path} HTTP/1.1\r\nHost: a\r\n${headers}Connection: close\r\n\r\n`);
        expect(reply, keys.join()).toMatch(/^HTTP\/1\.1 401 .*"UNAUTHORIZED"/s);
        expect(reply).toMatch(/www-authenticate: Bearer/i);
      }
    },
  );

  it('have the detailed shape and the id of the request [1.5a]', async () => {
    const { status, headers, body } = await app.get('/nowhere', { 'x-request-id': 'my-request' });
    expect(status).toBe(404);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('x-request-id')).toBe('my-request');
    expect(body).toEqual({
      error: {
        code: 'NOT_FOUND',
        message: 'No route matches this path. GET /docs lists all routes.',
        details: {},
        requestId: 'my-request',
      },
    });
  });

  it.each([
    { authorization: '' },
    { authorization: 'Bearer unknown' },
    { authorization: 'Basic good' },
    { authorization: 'Bearer' },
  ])('answer 401 with a challenge and the same body for %j [1.3a]', async (headers) => {
    const reply = await app.request('POST', '/loose', { body: {}, headers: { ...headers, 'x-request-id': 'r' } });
    expect(reply.status).toBe(401);
    expect(reply.headers.get('www-authenticate')).toBe('Bearer');
    expect(reply.headers.get('ratelimit')).toBeNull();
    expect(reply.body).toEqual({
      error: {
        code: 'UNAUTHORIZED',
        message: 'A valid API key is required. Send it as "Authorization: Bearer <key>".',
        details: {},
        requestId: 'r',
      },
    });
  });

  it('answer 404 for an unknown path without a key [1.3c]', async () => {
    expect((await app.get('/nowhere', { authorization: '' })).status).toBe(404);
    expect((await app.get('/loose/', { authorization: '' })).status).toBe(404);
    expect((await app.get('/LOOSE', { authorization: '' })).status).toBe(404);
  });

  it('answer 405 with Allow for a known path and the wrong method, without a key too [1.3c]', async () => {
    const reply = await app.request('DELETE', '/open', { headers: { authorization: '' } });
    expect(reply.status).toBe(405);
    expect(reply.headers.get('allow')).toBe('GET, HEAD');
    expect(reply.body.error).toMatchObject({
      code: 'METHOD_NOT_ALLOWED',
      message: 'This path supports GET or HEAD, not DELETE.',
      details: { allow: ['GET', 'HEAD'] },
    });
    expect((await app.request('OPTIONS', '/loose')).headers.get('allow')).toBe('POST');
  });

  it('answer HEAD like GET without the body, but not on event streams', async () => {
    const head = await app.request('HEAD', '/open');
    expect([head.status, head.text, head.headers.get('content-length')]).toEqual([
      200,
      '',
      String((await app.get('/open')).text.length),
    ]);
    const stream = await app.request('HEAD', '/stream');
    expect([stream.status, stream.headers.get('allow')]).toEqual([405, 'GET']);
  });

  it('ignore an invalid key on a route that needs none [1.3e]', async () => {
    expect((await app.get('/open', { authorization: 'Bearer unknown' })).body.keyId).toBe('');
  });

  it('answer 403 when the scope is missing, and name it [1.3i]', async () => {
    const { status, body } = await app.post('/loose', {}, { authorization: 'Bearer poor' });
    expect([status, body.error.code, body.error.details]).toEqual([403, 'FORBIDDEN', { scope: 'npc' }]);
  });

  it('answer 403 of the marked route in the short form [1.5e]', async () => {
    const { status, body } = await app.post('/rules', {}, { authorization: 'Bearer poor' });
    expect(status).toBe(403);
    expect(body).toEqual({ error: 'This API key does not have the scope "rules", which the route requires.' });
  });

  it('answer other errors of the marked route in the detailed form', async () => {
    expect((await app.post('/rules', {}, { authorization: '' })).body.error.code).toBe('UNAUTHORIZED');
  });

  it('let a route refuse before the body is read', async () => {
    const { status, body } = await app.request('POST', '/off', { body: '{' });
    expect([status, body.error.message]).toEqual([403, 'Switched off for k1.']);
  });

  it("answer 409 with the handler's details", async () => {
    const { status, body } = await app.post('/conflict');
    expect([status, body.error.code, body.error.details]).toEqual([409, 'CONFLICT', { why: 'twice' }]);
  });

  it('answer 503 with Retry-After [1.5c]', async () => {
    const reply = await app.post('/down');
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '2']);
  });

  it('answer 500 in general terms, and log the cause [1.5f]', async () => {
    const { status, text, body } = await app.post('/defect');
    expect([status, body.error.code]).toEqual([500, 'INTERNAL']);
    expect(text).not.toContain('hunter2');
    const logged = app.log.lines.find(({ level }) => level === 'error');
    expect(logged?.fields).toMatchObject({
      err: { message: expect.stringContaining('hunter2') },
      requestId: body.error.requestId,
    });
  });

  it('answer 413 for an announced body before it is sent [1.2r]', async () => {
    const reply = await app.raw(
      'POST /loose HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\nContent-Type: application/json\r\nContent-Length: 9999999\r\nExpect: 100-continue\r\n\r\n',
    );
    expect(reply).toMatch(/^HTTP\/1\.1 413 /);
    expect(reply).toContain('"code":"BODY_TOO_LARGE"');
    expect(reply).toContain('Connection: close');
  });

  it('answer 413 for a body that grows beyond the limit, readable by the client [1.2r]', async () => {
    const reply = await app.request('POST', '/loose', { body: Buffer.alloc(3 * 1024 * 1024, 0x20) });
    expect([reply.status, reply.body.error.details]).toEqual([413, { limitBytes: 1024 * 1024 }]);
    const chunk = `40000\r\n${' '.repeat(0x40000)}\r\n`;
    const chunked = await app.raw(
      `POST /loose HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(5)}0\r\n\r\n`,
    );
    expect(chunked).toMatch(/^HTTP\/1\.1 413 /);
  });

  it('accept a body of exactly the limit [1.2q]', async () => {
    const body = JSON.stringify({ data: { a: '' } });
    const filled = JSON.stringify({ data: { a: 'x'.repeat(1024 * 1024 - body.length) } });
    expect((await app.request('POST', '/loose', { body: filled })).status).toBe(200);
    expect((await app.request('POST', '/loose', { body: `${filled} ` })).status).toBe(413);
  });

  it('keep the connection when the refused body was small [1.2u]', async () => {
    const request = (last: boolean) =>
      `POST /loose HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n${last ? 'Connection: close\r\n' : ''}\r\n{}`;
    const replies = await app.raw(request(false) + request(true));
    expect(replies.match(/HTTP\/1\.1 401/g)).toHaveLength(2);
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', 'application/json, text/plain'])(
    'answer 415 for a body of %s [1.2a]',
    async (type) => {
      const { status, body } = await app.request('POST', '/loose', { body: '{}', headers: { 'content-type': type } });
      expect([status, body.error.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    },
  );

  it('answer 415 for a compressed body [1.2b]', async () => {
    const { status, body } = await app.post('/loose', {}, { 'content-encoding': 'gzip' });
    expect([status, body]).toMatchObject([415, { error: { message: 'Send the body without compression.' } }]);
  });

  it.each(['application/json; charset=utf-8', 'Application/JSON', 'application/json ;v=1'])(
    'accept a body of %s [1.2a]',
    async (type) => {
      expect((await app.request('POST', '/loose', { body: '{}', headers: { 'content-type': type } })).status).toBe(200);
    },
  );

  it('are sent in the documented order [1.2r, 1.3d]', async () => {
    const bad = (path: string, key: string, size: number, type: string, body = '{') =>
      app.request('POST', path, {
        body: body + ' '.repeat(size),
        headers: { authorization: `Bearer ${key}`, 'content-type': type },
      });
    const big = 1024 * 1024;
    const statuses: number[] = [];
    const note = async (reply: ReturnType<typeof bad>) => statuses.push((await reply).status);
    await bad('/loose', 'usedPoor', 0, 'text/plain');
    await note(bad('/nowhere', 'none', big, 'text/plain'));
    await note(bad('/open', 'none', big, 'text/plain'));
    await note(bad('/loose', 'none', big, 'text/plain'));
    await note(bad('/loose', 'usedPoor', big, 'text/plain'));
    await note(bad('/loose', 'poor', big, 'text/plain'));
    await note(bad('/loose', 'good', big, 'text/plain'));
    await note(bad('/loose', 'good', 0, 'text/plain'));
    await note(bad('/loose', 'good', 0, 'application/json'));
    await note(app.get('/npcs/unseen'));
    expect(statuses).toEqual([404, 405, 401, 429, 403, 413, 415, 400, 404]);
  });

  it('answer malformed HTTP in the same shape', async () => {
    const reply = await app.raw('GET / HTTP/1.1\r\nbroken header\r\n\r\n');
    const [head, body] = reply.split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 400 /);
    expect(head).toContain('X-Request-Id: unread-1');
    expect(JSON.parse(body ?? '')).toEqual({
      error: {
        code: 'REQUEST_UNREADABLE',
        message: 'The server cannot parse this HTTP request; details.reason says why.',
        details: { reason: 'The request is not valid HTTP/1.1.' },
        requestId: 'unread-1',
      },
    });
  });

  it('answer oversized headers, and a missing Host, in the same shape', async () => {
    const long = await app.raw(`GET /open HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`);
    expect(long).toContain('The request line and headers exceed 16384 bytes.');
    const hostless = await app.raw('GET /open HTTP/1.1\r\nConnection: close\r\n\r\n');
    expect(hostless).toContain('The Host header is missing.');
  });

  it('list every problem with its pointer, up to 50 [1.5d]', async () => {
    const { status, body } = await app.post('/npcs/mira/echo?limit=x', {
      note: 1,
      child: { name: 2 },
      list: [{ n: 'x' }],
    });
    expect([status, body.error.code]).toEqual([400, 'SCHEMA_INVALID']);
    expect(body.error.details.issues).toEqual([
      { in: 'query', pointer: '/limit', message: 'must be an integer' },
      { in: 'body', pointer: '/text', message: 'is missing' },
      { in: 'body', pointer: '/note', message: 'must be a string or null' },
      { in: 'body', pointer: '/child/name', message: 'must be a string' },
      { in: 'body', pointer: '/list/0/n', message: 'must be a number' },
    ]);
    const many = await app.post('/npcs/mira/echo', { text: '', list: Array.from({ length: 5_000 }, () => 0) });
    expect(many.body.error.details.issues).toHaveLength(50);
  });

  it('name at least the first problem of a body too large to list them all', async () => {
    const list = Array.from({ length: 100 }, () => ({}));
    const free = Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`m${index}`, index]));
    const { body } = await app.post('/npcs/mira/echo', { text: '', free, list: [...list, 0] });
    expect(body.error.details.issues).toEqual([{ in: 'body', pointer: '/list/100', message: 'must be an object' }]);
  });
});

describe('a route list', () => {
  it('is refused when two routes share a name or a path', async () => {
    await expect(startApp([openRoute, { ...openRoute, path: '/other' }])).rejects.toThrow('two routes share open');
    const twin = { ...thingRoute, operationId: 'twin', path: '/npcs/:other', params: Type.Object({}) };
    await expect(startApp([thingRoute, twin])).rejects.toThrow('two routes share GET /npcs/:');
  });
});
