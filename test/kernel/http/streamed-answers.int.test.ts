import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import { afterEach, describe, expect, it } from 'vitest';

import { yieldToEventLoop } from '../../../src/kernel/concurrency/yield-to-event-loop.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import type { Chunk, RouteDefinition, StreamedAnswer } from '../../../src/kernel/http/route.js';
import { gate } from '../../support/gate.js';
import { startApp, type TestApp } from '../../support/http.js';
import { closeSockets, heard, openSocket } from '../../support/sockets.js';
import { runRoute, streams } from './fake-routes.js';

const REQUEST = 'GET /run HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\n\r\n';

let app: TestApp;
afterEach(async () => {
  closeSockets();
  await app.stop();
});

/** A route that streams, and the responses that were requested from it. */
const streaming = (
  chunks: StreamedAnswer['chunks'],
  kind: 'finite' | 'endless' = 'finite',
  over: Partial<StreamedAnswer> = {},
): { readonly definition: RouteDefinition; readonly responses: ServerResponse[] } => {
  const responses: ServerResponse[] = [];
  const definition = runRoute(
    ({ koa }) => {
      responses.push(koa.res);
      return { headers: { 'X-Own': 'yes' }, stream: { type: 'text/plain', chunks, ...over } };
    },
    { method: 'GET', responses: streams(kind) },
  );
  return { definition, responses };
};
const ask = async (): Promise<Socket> => {
  const socket = await openSocket(app.port);
  socket.write(REQUEST);
  return socket;
};

/** A manual iterator that gives one chunk and then makes the next one forever, and whether it was closed. */
const stuck = () => {
  const { opened: returned, open: back } = gate();
  const { opened: making, open: stuckAt } = gate();
  let given = false;
  const chunks = (): AsyncIterable<Chunk> => ({
    [Symbol.asyncIterator]: () => ({
      next: () => {
        if (!given) {
          given = true;
          return Promise.resolve({ done: false, value: 'first' });
        }
        stuckAt();
        return new Promise<never>(() => undefined);
      },
      return: () => {
        back();
        return Promise.resolve({ done: true, value: undefined });
      },
    }),
  });
  return { chunks, returned, making };
};

describe('a streamed response', () => {
  it('arrives chunk by chunk, texts and bytes, with the usual headers and without a length [1.2o]', async () => {
    const { definition } = streaming(async function* () {
      yield 'one ';
      yield '';
      yield Buffer.from('zwö');
    });
    app = await startApp([definition]);
    const { status, headers, text } = await app.get('/run', { 'x-request-id': 'r1' });
    expect([status, text]).toEqual([200, 'one zwö']);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/plain',
      'x-own': 'yes',
      'x-request-id': 'r1',
      'transfer-encoding': 'chunked',
    });
    expect(headers.get('content-length')).toBeNull();
  });

  it('may be empty, and is not started for HEAD', async () => {
    let begun = 0;
    const { definition } = streaming(async function* () {
      begun += 1;
      yield* [];
    });
    app = await startApp([definition]);
    expect((await app.get('/run')).text).toBe('');
    const head = await app.request('HEAD', '/run');
    expect([head.status, head.headers.get('content-type'), head.headers.get('x-own')]).toEqual([
      200,
      'text/plain',
      'yes',
    ]);
    expect(begun).toBe(1);
  });

  it('sends its headers with an empty first chunk, before it has any content', async () => {
    const { definition } = streaming(async function* (signal) {
      yield '';
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    });
    app = await startApp([definition]);
    const [answer] = (await once(await ask(), 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('is read to its end', async () => {
    let aborted: boolean | null = null;
    const { definition } = streaming(async function* (signal) {
      yield 'all of it';
      signal.addEventListener('abort', () => (aborted = true));
      aborted = signal.aborted;
    });
    app = await startApp([definition]);
    expect((await app.get('/run')).text).toBe('all of it');
    await yieldToEventLoop();
    expect(aborted).toBe(false);
  });

  it('that throws before its first chunk becomes an ordinary refusal', async () => {
    // eslint-disable-next-line require-yield
    const { definition } = streaming(async function* (): AsyncGenerator<Chunk> {
      await yieldToEventLoop();
      throw new Rejection('STORE_UNAVAILABLE', { retryAfter: 2 });
    });
    app = await startApp([definition]);
    const { status, body, headers } = await app.get('/run');
    expect([status, body.error.code, headers.get('retry-after')]).toEqual([503, 'STORE_UNAVAILABLE', '2']);
  });

  it('that throws later is cut off, and the error is logged with the request [1.2p]', async () => {
    const err = new Error('the disk is gone');
    const { definition } = streaming(async function* () {
      yield 'a beginning';
      await yieldToEventLoop();
      throw err;
    });
    app = await startApp([definition]);
    const text = await heard(await ask());
    expect(text).toContain('a beginning');
    expect(text).not.toMatch(/\r\n0\r\n\r\n$/);
    const requestId = /^X-Request-Id: (.*)$/im.exec(text)?.[1];
    expect(app.log.lines.filter(({ level }) => level === 'error')).toEqual([
      { level: 'error', fields: { err, requestId, operation: 'run' }, message: 'A streamed response was cut off' },
    ]);
  });

  it('that its definition does not declare is a programming error', async () => {
    const { definition } = streaming(async function* () {
      yield 'x';
    });
    app = await startApp([{ ...definition, responses: { 200: { description: 'JSON' } } }]);
    expect((await app.get('/run')).status).toBe(500);
  });

  it('is produced no faster than its client reads [1.2o]', async () => {
    const SIZE = 100_000;
    let made = 0;
    const { definition, responses } = streaming(async function* () {
      for (; made < 1_000; made += 1) yield 'x'.repeat(SIZE);
    });
    app = await startApp([definition]);
    const socket = await ask();
    socket.pause();
    for (let still = 0, before = made; still < 2_000; still += 1) {
      await yieldToEventLoop();
      if (made !== before || responses[0]?.writableNeedDrain !== true) [still, before] = [0, made];
    }
    expect(responses[0]?.writableLength).toBeLessThan(2 * SIZE);
    expect(made).toBeLessThan(1_000);
    let read = 0;
    socket.on('data', (chunk: Buffer) => (read += chunk.length));
    socket.resume();
    await expect.poll(() => read, { timeout: 10_000 }).toBeGreaterThan(1_000 * SIZE);
  });

  it('yields to other work, however fast it is produced and read', async () => {
    let turns = 0;
    const turn = (): void => {
      turns += 1;
      running = setImmediate(turn);
    };
    let running = setImmediate(turn);
    const made: number[] = [];
    const { definition } = streaming(async function* () {
      while (made.length < 20) {
        made.push(turns);
        yield 'x'.repeat(100_000);
      }
    });
    app = await startApp([definition]);
    expect((await app.get('/run')).text).toHaveLength(2_000_000);
    clearImmediate(running);
    expect(new Set(made).size).toBe(20);
  });

  it.each(['finite', 'endless'] as const)(
    'is closed when its client leaves while a chunk is being made (%s)',
    async (kind) => {
      const { chunks, returned, making } = stuck();
      const { definition } = streaming(chunks, kind);
      app = await startApp([definition]);
      const socket = await ask();
      await making;
      socket.destroy();
      await returned;
      expect(app.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
    },
  );

  it('is closed when its client leaves while a chunk waits for it', async () => {
    let returned = false;
    const { definition, responses } = streaming(async function* (signal) {
      try {
        for (;;) {
          if (signal.aborted) throw new Error('asked for more although it was left');
          yield 'x'.repeat(1_000_000);
        }
      } finally {
        returned = true;
      }
    });
    app = await startApp([definition]);
    const socket = await ask();
    socket.pause();
    await expect.poll(() => responses[0]?.writableNeedDrain).toBe(true);
    socket.destroy();
    await expect.poll(() => returned).toBe(true);
    expect(app.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('is not started for a client that has left', async () => {
    let begun = false;
    const { opened: held, open: release } = gate();
    const answering: ServerResponse[] = [];
    let handled = false;
    const slow = runRoute(
      async ({ koa }) => {
        answering.push(koa.res);
        await held;
        handled = true;
        const chunks = (): AsyncIterable<Chunk> => {
          begun = true;
          return stuck().chunks();
        };
        return { stream: { type: 'text/plain', chunks } };
      },
      { method: 'GET', responses: streams('endless') },
    );
    app = await startApp([slow]);
    const socket = await ask();
    await expect.poll(() => answering.length).toBe(1);
    socket.destroy();
    await expect.poll(() => answering[0]?.destroyed).toBe(true);
    release();
    await expect.poll(() => handled).toBe(true);
    await yieldToEventLoop();
    expect(begun).toBe(false);
  });

  it('may take the time of a complete response for every 16 MiB [1.2v]', async () => {
    const { chunks, making } = stuck();
    const { opened: held, open: goOn } = gate();
    const { definition, responses } = streaming(async function* () {
      yield 'a beginning';
      await held;
      yield Buffer.alloc(16 * 1024 * 1024);
      yield* chunks();
    });
    app = await startApp([definition]);
    const socket = await ask();
    await once(socket, 'data');
    await app.clock.advance(200_000);
    goOn();
    socket.resume();
    await making;
    await app.clock.advance(299_999);
    expect(responses[0]?.destroyed).toBe(false);
    await app.clock.advance(1);
    await expect.poll(() => responses[0]?.destroyed).toBe(true);
  });

  it('sends keep-alives between its chunks, unless a chunk waits to be read', async () => {
    const { chunks, making } = stuck();
    const { definition } = streaming(chunks, 'endless', { heartbeat: { everyMs: 1_000, chunk: '.beat.' } });
    app = await startApp([definition]);
    const socket = await ask();
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await making;
    await app.clock.advance(2_000);
    await expect.poll(() => text.match(/\.beat\./g)?.length).toBe(2);
  });
});

describe('a stopping server', () => {
  it('ends an endless stream immediately and completely', async () => {
    const { chunks, returned, making } = stuck();
    const { definition } = streaming(chunks, 'endless');
    app = await startApp([definition]);
    const text = heard(await ask());
    await making;
    await app.stop();
    await returned;
    expect(await text).toMatch(/first\r\n0\r\n\r\n$/);
  });

  it('finishes a finite stream', async () => {
    const { opened: held, open: goOn } = gate();
    const { definition } = streaming(async function* () {
      yield 'one';
      await held;
      yield 'two';
    });
    app = await startApp([definition]);
    const socket = await ask();
    const text = heard(socket);
    await once(socket, 'data');
    const stopped = app.stop();
    goOn();
    await stopped;
    expect(await text).toMatch(/one\r\n3\r\ntwo\r\n0\r\n\r\n$/);
  });

  it('cuts off and closes a finite stream that does not end in time', async () => {
    const { chunks, returned, making } = stuck();
    const { definition } = streaming(chunks);
    app = await startApp([definition]);
    const text = heard(await ask());
    await making;
    const stopped = app.stop();
    await app.clock.advance(10_000);
    await stopped;
    await returned;
    expect(await text).not.toMatch(/\r\n0\r\n\r\n$/);
  });
});
