import { once } from 'node:events';

import { afterEach, describe, expect, it } from 'vitest';

import { yieldToEventLoop } from '../../../src/kernel/concurrency/yield-to-event-loop.js';
import { ClientGone } from '../../../src/kernel/http/guard/read-body.js';
import { openApi } from '../../../src/kernel/http/openapi/document.js';
import type { Call, RouteDefinition } from '../../../src/kernel/http/route.js';
import { gate } from '../../support/gate.js';
import { startApp, type TestApp } from '../../support/http.js';
import { closeSockets, heard, openSocket } from '../../support/sockets.js';
import { looseRoute, openRoute, runRoute } from './fake-routes.js';

const MAX_BYTES = 2 * 1024 * 1024;

/** A route that accepts bytes, by default of one type. */
const bytesRoute = (handler: RouteDefinition['handler'], over: Partial<RouteDefinition> = {}): RouteDefinition =>
  runRoute(handler, { bytes: { accepts: 'application/x-ndjson', maxBytes: MAX_BYTES }, ...over });

const readAll = async ({ bytes }: Call): Promise<Buffer> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks);
};
const counting = bytesRoute(async (call) => ({ body: { bytes: (await readAll(call)).length } }));
const ndjson = { 'content-type': 'application/x-ndjson' };

const HEAD = 'POST /run HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\nContent-Type: application/x-ndjson\r\n';
const chunkOf = (content: string): string => `${content.length.toString(16)}\r\n${content}\r\n`;

let app: TestApp;
afterEach(async () => {
  closeSockets();
  await app.stop();
});
const open = () => openSocket(app.port);
/** A handler that reads its first chunk and then waits, and the result of its reading. */
const paused = () => {
  const { opened: held, open: goOn } = gate();
  const { opened: first, open: begun } = gate<Call>();
  const { opened: outcome, open: ended } = gate<unknown>();
  const definition = bytesRoute(async (call) => {
    let bytes = 0;
    try {
      for await (const chunk of call.bytes) {
        if (bytes === 0) {
          begun(call);
          await held;
        }
        bytes += chunk.length;
      }
    } catch (thrown) {
      ended(thrown);
      throw thrown;
    }
    ended(bytes);
    return { body: { bytes } };
  });
  return { definition, first, outcome, goOn };
};

describe('a body of bytes', () => {
  it('arrives as it was sent, with a length or in chunks', async () => {
    app = await startApp([bytesRoute(async (call) => ({ body: { text: (await readAll(call)).toString() } }))]);
    const whole = await app.request('POST', '/run', { body: '{"a":1}\nno json', headers: ndjson });
    expect(whole.body).toEqual({ text: '{"a":1}\nno json' });
    const chunked = await app.raw(
      `${HEAD}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n${chunkOf('one')}${chunkOf(' two')}0\r\n\r\n`,
    );
    expect(chunked).toContain('{"text":"one two"}');
  });

  it('may be empty or absent', async () => {
    app = await startApp([counting]);
    expect((await app.request('POST', '/run')).body).toEqual({ bytes: 0 });
    expect((await app.request('POST', '/run', { body: '', headers: ndjson })).body).toEqual({ bytes: 0 });
  });

  it('is empty for a route that accepts no bytes', async () => {
    app = await startApp([runRoute(async (call) => ({ body: { bytes: (await readAll(call)).length } }))]);
    expect((await app.post('/run', { a: 1 })).body).toEqual({ bytes: 0 });
  });

  it('is requested when the handler begins to read it', async () => {
    app = await startApp([counting]);
    const socket = await open();
    socket.write(`${HEAD}Connection: close\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n`);
    const [told] = (await once(socket, 'data')) as [Buffer];
    expect(told.toString()).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write('abc');
    expect(await heard(socket)).toContain('{"bytes":3}');
  });

  it('must have the type of the route, whatever its parameters and case, and must not be compressed [1.2b]', async () => {
    const any = bytesRoute(counting.handler, {
      operationId: 'any',
      path: '/any',
      bytes: { accepts: '*/*', maxBytes: MAX_BYTES },
    });
    app = await startApp([counting, any]);
    const statusOf = async (path: string, type: string, more = {}): Promise<readonly unknown[]> => {
      const { status, body } = await app.request('POST', path, {
        body: 'a',
        headers: { 'content-type': type, ...more },
      });
      return [status, body.error?.message];
    };
    expect(await statusOf('/run', 'Application/X-NDJSON ; charset=utf-8')).toEqual([200, undefined]);
    const sentence = 'Send the body with Content-Type: application/x-ndjson.';
    expect(await statusOf('/run', 'application/json')).toEqual([415, sentence]);
    expect(await statusOf('/run', 'application/x-ndjsonx')).toEqual([415, sentence]);
    expect(await statusOf('/any', 'image/png')).toEqual([200, undefined]);
    const untyped = 'POST /any HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\nConnection: close\r\n';
    expect(await app.raw(`${untyped}Content-Length: 1\r\n\r\na`)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await statusOf('/any', 'image/png', { 'content-encoding': 'gzip' })).toEqual([
      415,
      'Send the body without compression.',
    ]);
  });

  it('is refused before any of it is read when its announced length is too large [1.2r]', async () => {
    let read = false;
    app = await startApp([
      bytesRoute(() => {
        read = true;
        return {};
      }),
    ]);
    const reply = await app.raw(`${HEAD}Expect: 100-continue\r\nContent-Length: ${MAX_BYTES + 1}\r\n\r\n`);
    expect(reply).toMatch(/^HTTP\/1\.1 413 /);
    expect(read).toBe(false);
  });

  it('is accepted up to the exact limit, and refused beyond it with a response that the client can read [1.2r]', async () => {
    const { definition, goOn, outcome } = paused();
    goOn();
    app = await startApp([definition]);
    const filled = Buffer.alloc(MAX_BYTES, 'x');
    expect((await app.request('POST', '/run', { body: filled, headers: ndjson })).body).toEqual({ bytes: MAX_BYTES });
    expect(await outcome).toBe(MAX_BYTES);
    const piece = chunkOf('x'.repeat(0x10000));
    for (const expectation of ['', 'Expect: 100-continue\r\n']) {
      const reply = await app.raw(
        `${HEAD}${expectation}Transfer-Encoding: chunked\r\n\r\n${piece.repeat(MAX_BYTES / 0x10000 + 20)}0\r\n\r\n`,
      );
      expect(reply).toMatch(/HTTP\/1\.1 413 /);
      expect(reply).toContain(`"limitBytes":${MAX_BYTES}`);
    }
  });

  it('is refused in the documented order [1.2r]', async () => {
    app = await startApp([
      { ...counting, scope: null, operationId: 'keyless', path: '/keyless', query: undefined as never },
      counting,
    ]);
    const send = async (headers: Record<string, string>, size: number) =>
      (await app.request('POST', '/run', { body: Buffer.alloc(size), headers })).status;
    const wrong = { 'content-type': 'text/plain', 'idempotency-key': 'k' };
    expect(await send({ ...wrong, authorization: '' }, MAX_BYTES + 1)).toBe(401);
    expect(await send(wrong, MAX_BYTES + 1)).toBe(413);
    expect(await send(wrong, 1)).toBe(415);
    expect(await send({ ...wrong, ...ndjson }, 1)).toBe(400);
  });

  it('is never reported as complete when its client leaves midway', async () => {
    const { definition, first, outcome, goOn } = paused();
    app = await startApp([definition]);
    const socket = await open();
    socket.write(`${HEAD}Content-Length: 1000\r\n\r\nbeginning`);
    const { koa } = await first;
    const closed = once(koa.res, 'close');
    socket.destroy();
    await closed;
    goOn();
    expect(await outcome).toBeInstanceOf(ClientGone);
    expect(app.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('applies backpressure to its client while the handler does not read', async () => {
    const { definition, first, outcome, goOn } = paused();
    const size = 64 * 1024 * 1024;
    app = await startApp([{ ...definition, bytes: { accepts: '*/*', maxBytes: size } }]);
    const socket = await open();
    socket.write(`${HEAD}Content-Length: ${size}\r\n\r\n`);
    socket.write(Buffer.alloc(size));
    const { koa } = await first;
    const received = (): number => koa.req.socket.bytesRead;
    for (let still = 0, before = received(); still < 2_000; still += 1) {
      await yieldToEventLoop();
      if (received() !== before) [still, before] = [0, received()];
    }
    expect(received()).toBeLessThan(1024 * 1024);
    goOn();
    expect(await outcome).toBe(size);
  });

  it.each([
    ['nothing', 0],
    ['a part', 1],
  ])('of which the handler reads %s leaves a small rest, and the connection stays open [1.2u]', async (_, chunks) => {
    const lazy = bytesRoute(async ({ bytes }) => {
      const iterator = bytes[Symbol.asyncIterator]();
      for (let count = 0; count < chunks; count += 1) await iterator.next();
      return { body: { lazy: true } };
    });
    app = await startApp([lazy, openRoute]);
    const socket = await open();
    const size = 300_000;
    socket.write(`${HEAD}Content-Length: ${size}\r\n\r\n${'x'.repeat(size)}`);
    socket.write('GET /open HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    const replies = await heard(socket);
    expect(replies).toContain('{"lazy":true}');
    expect(replies.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
  });

  it('of which the handler leaves a large rest closes the connection, and the client can read the response [1.2u]', async () => {
    app = await startApp([bytesRoute(() => ({ body: { lazy: true } }))]);
    const reply = await app.raw(`${HEAD}Content-Length: ${MAX_BYTES}\r\n\r\n${'x'.repeat(MAX_BYTES)}`);
    expect(reply).toContain('Connection: close');
    expect(reply).toContain('{"lazy":true}');
  });

  describe('that is late', () => {
    const limits = { headersTimeoutMs: 200, requestTimeoutMs: 200, timeoutCheckMs: 20 };

    it('is refused as a server error when more of it had arrived while the server was blocked', async () => {
      const { definition, outcome, goOn } = paused();
      goOn();
      app = await startApp([definition], { limits });
      const socket = await open();
      socket.write(`${HEAD}Content-Length: 20\r\n\r\nbegin`);
      const answer = heard(socket);
      await new Promise((resolve) => setTimeout(resolve, 50));
      setImmediate(() => {
        socket.write('more');
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
      });
      expect(await answer).toMatch(/^HTTP\/1\.1 503 [^]*"BUSY"/);
      expect(await outcome).toBeInstanceOf(ClientGone);
    });

    it('is refused as a server error when its handler did not read what had arrived, and is never taken for complete', async () => {
      const { definition, outcome, goOn } = paused();
      app = await startApp([definition], { limits });
      const socket = await open();
      const size = 1024 * 1024;
      socket.write(`${HEAD}Content-Length: ${size}\r\n\r\n${'x'.repeat(size)}`);
      const [answer] = (await once(socket, 'data')) as [Buffer];
      expect(answer.toString()).toMatch(/^HTTP\/1\.1 503 [^]*"BUSY"/);
      goOn();
      expect(await outcome).toBeInstanceOf(ClientGone);
    });

    it('is refused as a client error when nothing more arrived', async () => {
      const { definition, goOn } = paused();
      goOn();
      app = await startApp([definition], { limits });
      const reply = await app.raw(`${HEAD}Content-Length: 20\r\n\r\nbegin`);
      expect(reply).toMatch(/^HTTP\/1\.1 400 [^]*did not arrive in time/);
    });
  });
});

describe('an Idempotency-Key on a route that accepts bytes', () => {
  it('is refused, and ignored where no key is needed [1.7h]', async () => {
    const keyless = { ...counting, operationId: 'keyless', path: '/keyless', scope: null };
    app = await startApp([counting, keyless]);
    const headers = { ...ndjson, 'idempotency-key': 'k' };
    const { status, body } = await app.request('POST', '/run', { body: 'a', headers });
    expect([status, body.error.code, body.error.details]).toEqual([
      400,
      'HEADER_INVALID',
      { header: 'Idempotency-Key' },
    ]);
    expect((await app.request('POST', '/keyless', { body: 'a', headers })).status).toBe(200);
  });

  it('is absent from the OpenAPI document, which has the media type of the bytes', async () => {
    app = await startApp([looseRoute]);
    const document = JSON.parse(JSON.stringify(openApi([counting])));
    const operation = document.paths['/run'].post;
    expect(operation.parameters).toEqual([]);
    expect(operation.requestBody).toEqual({
      required: true,
      content: { 'application/x-ndjson': { schema: { type: 'string', format: 'binary' } } },
    });
  });
});
