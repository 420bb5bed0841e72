import { once } from 'node:events';
import type { Socket } from 'node:net';

import { afterEach, describe, expect, it } from 'vitest';

import type { ServerResponse } from 'node:http';

import { connectionLimits } from '../../../src/kernel/http/connection-limits.js';
import type { Answer, Call, RouteDefinition } from '../../../src/kernel/http/route.js';
import { gate } from '../../support/gate.js';
import { startApp, type TestApp } from '../../support/http.js';
import { closeSockets, heard, openSocket } from '../../support/sockets.js';
import { looseRoute, openRoute, runRoute, streamed, streams, untilLeft } from './fake-routes.js';

let app: TestApp;
afterEach(async () => {
  closeSockets();
  await app.stop();
});

const open = () => openSocket(app.port);
const errorOf = (answer: string) =>
  (JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)) as { error: { code: string; details: object } }).error;

describe('an invalid request', () => {
  it.each([
    ['FOO /open HTTP/1.1', 'The method is not a valid HTTP method.'],
    ['CONNECT example.com:443 HTTP/1.1', 'CONNECT is for proxies, and this server is not a proxy.'],
    ['CONNECT /open HTTP/1.1', 'CONNECT is for proxies, and this server is not a proxy.'],
    ['GET /open HTP/1.1', 'The request is not valid HTTP/1.1.'],
  ])('%s is refused with the usual error body, and the connection is closed', async (line, reason) => {
    app = await startApp([openRoute]);
    const answer = await app.raw(`${line}\r\nHost: a\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(answer).toMatch(/\r\nConnection: close\r\n/);
    expect(errorOf(answer)).toMatchObject({ code: 'REQUEST_UNREADABLE', details: { reason }, requestId: 'unread-1' });
    expect((await app.get('/open')).status).toBe(200);
  });

  it('costs the server nothing when its client leaves immediately', async () => {
    app = await startApp([openRoute]);
    for (let tries = 0; tries < 20; tries += 1) {
      const socket = await open();
      socket.write('CONNECT example.com:443 HTTP/1.1\r\nHost: a\r\n\r\n');
      socket.resetAndDestroy();
    }
    expect((await app.get('/open')).status).toBe(200);
  });
});

describe('a late request', () => {
  const HEADERS = 'POST /loose HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\nConnection: close\r\n';
  const BODY = 'Content-Type: application/json\r\nContent-Length: 7\r\n\r\n{"a":1}';
  const REQUEST = `${HEADERS}${BODY}`;
  const limits = { headersTimeoutMs: 200, requestTimeoutMs: 200, timeoutCheckMs: 20 };

  /** Sends the beginning, waits until it is read, and sends more just before the loop blocks for longer than a request may take. */
  const sendAround = async (first: string, more: string): Promise<string> => {
    app = await startApp([looseRoute], { limits });
    const socket = await open();
    socket.write(first);
    const answer = heard(socket);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await new Promise<void>((resolve) => {
      setImmediate(() => {
        socket.write(more);
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
        resolve();
      });
    });
    return answer;
  };

  it.each([
    ['in its body', REQUEST.length - 3],
    ['in its headers', 30],
  ])('is answered when it had arrived while the server was blocked, %s', async (_, cut) => {
    const answer = await sendAround(REQUEST.slice(0, cut), REQUEST.slice(cut));
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer).toContain('{"body":{"a":1}}');
  });

  it('is refused as a server error when more of it had arrived while the server was blocked', async () => {
    const answer = await sendAround(REQUEST.slice(0, -5), REQUEST.slice(-5, -2));
    expect(answer).toMatch(/^HTTP\/1\.1 503 Service Unavailable\r\nRetry-After: 1\r\n/);
    expect(errorOf(answer).code).toBe('BUSY');
  });

  it('is refused as a client error when nothing more arrived', async () => {
    const answer = await sendAround(REQUEST.slice(0, -5), '');
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(errorOf(answer).details).toEqual({ reason: 'The request did not arrive in time.' });
  });
});

describe('a request that timed out', () => {
  const limits = { headersTimeoutMs: 200, requestTimeoutMs: 200, timeoutCheckMs: 20 };
  const head = (key: string): string =>
    `POST /run HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n`;
  /** A connection that can still send after the server has ended its side. */
  const openHalf = () => openSocket(app.port, { allowHalfOpen: true });

  it('is not executed when its rest arrives after the refusal', async () => {
    let carriedOut = 0;
    const looseBody = { body: looseRoute.body } as Partial<RouteDefinition>;
    const handler = (): Answer => ({ body: { done: (carriedOut += 1) } });
    app = await startApp([runRoute(handler, looseBody)], { limits });
    const socket = await openHalf();
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    socket.write(`${head('good')}{"a"`);
    await once(socket, 'end');
    expect(text).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    socket.end(':1}');
    await once(socket, 'close');
    // Another request has its response by now, and so would this one.
    expect((await app.post('/run', {})).status).toBe(200);
    expect(carriedOut).toBe(1);
  });

  it('is not answered twice when it was refused before its body had arrived', async () => {
    app = await startApp([looseRoute], { limits });
    const socket = await open();
    const answer = heard(socket);
    socket.write(`${head('stranger').replace('/run', '/loose')}{"a"`);
    const text = await answer;
    expect(text).toMatch(/^HTTP\/1\.1 401 Unauthorized\r\n/);
    expect(text.match(/HTTP\/1\.1 /g)).toHaveLength(1);
  });
});

describe('a response', () => {
  /** More than the system buffers from a server for a client that reads nothing. */
  const LARGE = 'x'.repeat(32 * 1024 * 1024);
  const REQUEST = 'POST /run HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\nContent-Length: 0\r\n\r\n';

  type Unread = { readonly response: ServerResponse; readonly socket: Socket };

  /** A client that sends a request and reads nothing, and the response on the server's side. */
  const unreadBy = async (answer: Answer, limits: object, method: 'GET' | 'POST' = 'POST'): Promise<Unread> => {
    const { opened: response, open: given } = gate<ServerResponse>();
    const handler = ({ koa }: Call): Answer => {
      given(koa.res);
      return answer;
    };
    app = await startApp(
      [runRoute(handler, { method, ...(method === 'GET' ? { responses: streams('endless') } : {}) })],
      {
        limits,
      },
    );
    const socket = await open();
    socket.pause().write(REQUEST.replace('POST', method));
    return { response: await response, socket };
  };
  const whole: Answer = { raw: { type: 'text/plain', content: LARGE } };

  /** Asserts that the connection ends before the complete response has arrived. */
  const expectCut = async (socket: Socket): Promise<void> => {
    const { length } = await heard(socket);
    expect(length).toBeLessThan(LARGE.length);
  };

  it('is cut off when nothing of it is read [1.2v]', async () => {
    expect(connectionLimits.unreadTimeoutMs).toBe(60_000);
    const { response, socket } = await unreadBy(whole, { unreadTimeoutMs: 100 });
    await once(response, 'close');
    await expectCut(socket);
  });

  it('is cut off when it is read too slowly, even if it is still being read [1.2v]', async () => {
    const { response, socket } = await unreadBy(whole, {});
    await expect.poll(() => response.writableEnded).toBe(true);
    const closed = once(response, 'close');
    await app.clock.advance(299_999);
    expect(response.destroyed).toBe(false);
    await app.clock.advance(1);
    await closed;
    await expectCut(socket);
  });

  it('is cut off also as an event stream once its client stops reading [1.2v]', async () => {
    const answer = streamed(LARGE, untilLeft);
    const { response, socket } = await unreadBy(answer, { unreadTimeoutMs: 100 }, 'GET');
    await once(response, 'close');
    await expectCut(socket);
  });

  it('continues as an event stream while its client reads, and while a handler works [1.2v]', async () => {
    const COMMENTS = 40;
    const comments = async function* () {
      for (let sent = 0; sent < COMMENTS; sent += 1) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        yield ':\n\n';
      }
    };
    const handler = async (): Promise<Answer> => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      return { stream: { type: 'text/event-stream', chunks: comments } };
    };
    const stream = runRoute(handler, { method: 'GET', responses: streams('endless') });
    app = await startApp([stream], { limits: { unreadTimeoutMs: 100 } });
    expect((await app.get('/run')).text).toBe(':\n\n'.repeat(COMMENTS));
  });
});

describe('connections', () => {
  it('are closed on arrival when the maximum is open, which is logged once', async () => {
    app = await startApp([openRoute], { limits: { maxConnections: 2 } });
    const first = await open();
    const second = await open();
    for (let tries = 0; tries < 3; tries += 1) {
      const refused = await open();
      expect(await heard(refused)).toBe('');
    }
    expect(app.log.lines).toEqual([
      {
        level: 'warn',
        fields: { maxConnections: 2 },
        message: 'Refusing connections: this process has reached its connection limit',
      },
    ]);
    first.destroy();
    second.destroy();
    await expect.poll(async () => (await app.get('/open').catch(() => null))?.status).toBe(200);
  });

  it('are closed if nothing is ever sent', async () => {
    app = await startApp([openRoute], {
      limits: { headersTimeoutMs: 100, requestTimeoutMs: 100, timeoutCheckMs: 20 },
    });
    expect(await heard(await open())).toContain('The request did not arrive in time.');
  });

  it('are eventually closed while they wait for the next request', async () => {
    app = await startApp([openRoute], { limits: { keepAliveTimeoutMs: 100 } });
    const socket = await open();
    socket.write('GET /open HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(await heard(socket)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });
});
