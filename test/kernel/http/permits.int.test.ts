import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { afterEach, describe, expect, it } from 'vitest';

import { createMetrics } from '../../../src/adapters/prometheus/metrics.js';
import { yieldToEventLoop } from '../../../src/kernel/concurrency/yield-to-event-loop.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import { clientSignal } from '../../../src/kernel/http/client-signal.js';
import type { Answer, RouteDefinition } from '../../../src/kernel/http/route.js';
import { shownAnswer } from '../../../src/features/souls/http/shown-answer.js';
import { gate } from '../../support/gate.js';
import { startApp, type TestApp } from '../../support/http.js';
import { closeSockets, openSocket } from '../../support/sockets.js';
import { runRoute, streamed, streams, untilLeft } from './fake-routes.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
/** Bytes of live buffers. */
const buffersNow = (): number => {
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
};

const requestTo = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\n\r\n`;

/** A route whose permits are counted, and which answers when the test releases it. */
const counted = (path: string, responses = streams('finite')) => {
  const held = { permits: 0, handlers: 0, ended: 0 };
  const { opened: answer, open: finish } = gate<Answer>();
  const route = runRoute(
    async () => {
      held.handlers += 1;
      try {
        return await answer;
      } finally {
        held.ended += 1;
      }
    },
    {
      ...{ operationId: path.slice(1), path, method: 'GET', responses },
      enter: () => {
        held.permits += 1;
        return () => {
          held.permits -= 1;
        };
      },
    },
  );
  return { route, held, finish };
};

describe('the permit of a request', () => {
  let app: TestApp;
  afterEach(async () => {
    closeSockets();
    await app.stop();
  });

  it('is kept until its stream was read', async () => {
    const { route, held, finish } = counted('/run');
    const { opened: more, open: goOn } = gate();
    app = await startApp([route]);
    finish(streamed('first', () => more));
    const socket = await openSocket(app.port);
    socket.write(requestTo('/run'));
    await once(socket, 'data');
    expect(held).toEqual({ permits: 1, handlers: 1, ended: 1 });
    goOn();
    await expect.poll(() => held.permits).toBe(0);
  });

  it('is kept while its handler runs, although its client has left, and then released', async () => {
    const { route, held, finish } = counted('/run');
    app = await startApp([route]);
    const socket = await openSocket(app.port);
    socket.write(requestTo('/run'));
    await expect.poll(() => held.handlers).toBe(1);
    const closed = once(socket, 'close');
    socket.destroy();
    await closed;
    expect(held.permits).toBe(1);
    finish({ body: {} });
    await expect.poll(() => held.permits).toBe(0);
  });

  it('is released with a complete response that waits for an endless one on its connection', async () => {
    const { route, held, finish } = counted('/run');
    const endless = runRoute(() => streamed('first', untilLeft), {
      ...{ operationId: 'endless', path: '/endless', method: 'GET', responses: streams('endless') },
    });
    app = await startApp([route, endless]);
    const socket = await openSocket(app.port);
    socket.write(requestTo('/endless') + requestTo('/run').repeat(20));
    finish({ body: {} });
    await expect.poll(() => held.ended).toBe(20);
    await expect.poll(() => held.permits).toBe(0);
  });

  it('is released when a client leaves whose stream waits for an earlier response on its connection', async () => {
    const first = counted('/first');
    const second = counted('/second');
    app = await startApp([first.route, second.route]);
    const socket = await openSocket(app.port);
    socket.write(requestTo('/first') + requestTo('/second'));
    let isLeft = false;
    second.finish(
      streamed('a beginning', async (signal) => {
        await untilLeft(signal);
        isLeft = true;
      }),
    );
    await expect.poll(() => second.held.ended).toBe(1);
    expect(second.held.permits).toBe(1);
    socket.destroy();
    await expect.poll(() => second.held.permits).toBe(0);
    first.finish({ body: {} });
    await expect.poll(() => first.held.permits).toBe(0);
    await expect.poll(() => isLeft).toBe(true);
  });

  it('is released with an empty stream, whatever waits before it on its connection', async () => {
    const { route, held, finish } = counted('/run');
    const endless = runRoute(() => streamed('first', untilLeft), {
      ...{ operationId: 'endless', path: '/endless', method: 'GET', responses: streams('endless') },
    });
    app = await startApp([route, endless]);
    const socket = await openSocket(app.port);
    socket.write(requestTo('/endless') + requestTo('/run') + requestTo('/run').replace('GET', 'HEAD'));
    finish({
      stream: {
        type: 'text/plain',
        // eslint-disable-next-line require-yield
        chunks: async function* () {
          await yieldToEventLoop();
          throw new Rejection('STORE_UNAVAILABLE');
        },
      },
    });
    await expect.poll(() => held.ended).toBe(2);
    await expect.poll(() => held.permits).toBe(0);
  });

  it.each([{ body: {} }, { status: 204 }])(
    'is released with a complete response whose client is still sending: %j',
    async (answer) => {
      let permits = 0;
      const upload = runRoute(() => answer, {
        bytes: { accepts: '*/*', maxBytes: 100_000_000 },
        enter: () => {
          permits += 1;
          return () => (permits -= 1);
        },
      });
      app = await startApp([upload]);
      const socket = await openSocket(app.port);
      socket.write(`${requestTo('/run').replace('GET', 'POST').trimEnd()}\r\nContent-Length: 50000000\r\n\r\nabc`);
      await once(socket, 'data');
      expect(permits).toBe(0);
    },
  );

  it('for a large body is released when that is refused, although its client keeps sending', async () => {
    const upload = runRoute(() => ({ body: {} }), { bodyLimit: 2 * 1024 * 1024 });
    app = await startApp([upload]);
    const head = 'POST /run HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\nContent-Type: application/json\r\n';
    for (let refused = 0; refused < 8; refused += 1) {
      const socket = await openSocket(app.port);
      socket.write(`${head}Content-Length: 999999999\r\n\r\n{`);
      const [answer] = (await once(socket, 'data')) as [Buffer];
      expect(answer.toString()).toMatch(/^HTTP\/1\.1 413 /);
    }
    expect((await app.post('/run', { text: 'x'.repeat(1_500_000) })).status).toBe(200);
  });
});

describe('a client that waits for an earlier response on its connection, and leaves', () => {
  const waiting = async (
    handler: RouteDefinition['handler'],
    kind: 'finite' | 'endless' = 'finite',
    metrics = createMetrics(),
  ) => {
    const first = runRoute(() => streamed('first', untilLeft), {
      ...{ operationId: 'first', path: '/first', method: 'GET', responses: streams('endless') },
    });
    const second = runRoute(handler, {
      ...{ operationId: 'second', path: '/second', method: 'GET', responses: streams(kind) },
    });
    const app = await startApp([first, second], { metrics });
    const socket = await openSocket(app.port);
    const leave = async (): Promise<void> => {
      const closed = once(socket, 'close');
      socket.destroy();
      await closed;
      for (let turns = 0; turns < 20; turns += 1) await yieldToEventLoop();
    };
    return {
      app,
      ask: (times: number, method = 'GET') =>
        socket.write(requestTo('/first') + requestTo('/second').replace('GET', method).repeat(times)),
      leave,
    };
  };

  it('cancels the work for its request', async () => {
    let signal: AbortSignal | undefined;
    const { app, ask, leave } = await waiting(async (call) => {
      signal = clientSignal(call);
      await untilLeft(signal as AbortSignal);
      return { body: {} };
    });
    ask(1);
    await expect.poll(() => signal).toBeDefined();
    await leave();
    expect(signal?.aborted).toBe(true);
    await app.stop();
  });

  it.each([
    ['plain', { text: 'x'.repeat(900_000) }, ''],
    ['refused', 'x'.repeat(900_000), ''],
    ['under a key', { text: 'x'.repeat(900_000) }, 'Idempotency-Key: k'],
  ])('is not kept in memory with its body once its response is made: %s', async (_, sent, header) => {
    const bodies: WeakRef<object>[] = [];
    const upload = runRoute(({ body }) => {
      bodies.push(new WeakRef(body as object));
      return { body: {} };
    });
    const endless = runRoute(() => streamed('first', untilLeft), {
      ...{ operationId: 'endless', path: '/endless', method: 'GET', responses: streams('endless') },
    });
    const app = await startApp([endless, upload]);
    const socket = await openSocket(app.port);
    const json = JSON.stringify(sent);
    const before = buffersNow();
    const head = `${requestTo('/run').replace('GET', 'POST').trimEnd()}\r\nContent-Type: application/json\r\n`;
    const request = (n: number): string =>
      `${head}${header === '' ? '' : `${header}${n}\r\n`}Content-Length: ${json.length}\r\n\r\n${json}`;
    socket.write(requestTo('/endless') + Array.from({ length: 10 }, (__, n) => request(n)).join(''));
    // The buffer of the socket does not matter: all of it has arrived when the last one runs.
    await expect.poll(() => app.clock.waiting, { timeout: 20_000 }).toBeGreaterThanOrEqual(10);
    await expect.poll(() => buffersNow() - before, { timeout: 20_000 }).toBeLessThan(2_000_000);
    expect(bodies.filter((body) => body.deref() !== undefined)).toEqual([]);
    closeSockets();
    await app.stop();
  });

  it('leaves no timer that would keep its responses in memory', async () => {
    const { app, ask, leave } = await waiting(() => ({ body: {} }));
    const before = app.clock.waiting;
    ask(5);
    await expect.poll(() => app.clock.waiting).toBe(before + 5);
    await leave();
    expect(app.clock.waiting).toBe(before);
    await app.stop();
  });

  it('is counted as a client that left, even if its response was made', async () => {
    const metrics = createMetrics();
    let made = 0;
    const { app, ask, leave } = await waiting(
      () => {
        made += 1;
        return { body: {} };
      },
      'finite',
      metrics,
    );
    ask(3);
    await expect.poll(() => made).toBe(3);
    await leave();
    const { content } = await metrics.render();
    expect(content).toContain('anima_http_request_duration_seconds_count{operation="second",status="499"} 3');
    await app.stop();
  });

  it('leaves nothing of a response to HEAD open, which has no body', async () => {
    let open = 0;
    let made = 0;
    const { app, ask } = await waiting(({ koa }) => {
      open += 1;
      made += 1;
      return { stream: shownAnswer(koa, { bytes: Buffer.from('x'), close: () => (open -= 1) }, 'text/plain') };
    });
    ask(5, 'HEAD');
    await expect.poll(() => made).toBe(5);
    expect(open).toBe(0);
    closeSockets();
    await app.stop();
  });

  it('leaves nothing open, even if its response was not started', async () => {
    const { opened: held, open: goOn } = gate();
    let open = 0;
    let ended = 0;
    const { app, ask, leave } = await waiting(async ({ koa }) => {
      open += 1;
      await held;
      ended += 1;
      return { stream: shownAnswer(koa, { bytes: Buffer.from('x'), close: () => (open -= 1) }, 'text/plain') };
    });
    ask(5);
    await expect.poll(() => open).toBe(5);
    await leave();
    goOn();
    await expect.poll(() => ended).toBe(5);
    await expect.poll(() => open).toBe(0);
    await app.stop();
  });

  it('leaves no listener on the stop signal', async () => {
    const { opened: held, open: goOn } = gate();
    let begun = 0;
    const warnings: Error[] = [];
    const warned = (warning: Error): void => void warnings.push(warning);
    process.on('warning', warned);
    const { app, ask, leave } = await waiting(async () => {
      begun += 1;
      await held;
      return streamed('second', untilLeft);
    }, 'endless');
    ask(20);
    await expect.poll(() => begun).toBe(20);
    await leave();
    goOn();
    for (let turns = 0; turns < 50; turns += 1) await yieldToEventLoop();
    process.off('warning', warned);
    expect(warnings).toEqual([]);
    await app.stop();
  });
});

describe('a response without a body', () => {
  it.each([200, 202])(
    'keeps its status, and ends immediately although its client is still sending (%i)',
    async (status) => {
      const route = runRoute(() => ({ status }), { bytes: { accepts: '*/*', maxBytes: 100_000_000 } });
      const app = await startApp([route]);
      const socket = await openSocket(app.port);
      socket.write(
        'POST /run HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\nContent-Length: 50000000\r\n\r\nabc',
      );
      const [answer] = (await once(socket, 'data')) as [Buffer];
      expect(answer.toString()).toMatch(new RegExp(`^HTTP/1\\.1 ${String(status)} [^]*Content-Length: 0\r\n`));
      closeSockets();
      await app.stop();
    },
  );
});

describe('a request', () => {
  it('prints no warning, however many listeners wait for its end', async () => {
    const warnings: Error[] = [];
    const warned = (warning: Error): void => void warnings.push(warning);
    process.on('warning', warned);
    const { route, finish } = counted('/run');
    const app = await startApp([route]);
    finish(streamed('first'));
    const socket = await openSocket(app.port);
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.write(requestTo('/run').repeat(20));
    await expect.poll(() => text.match(/first/g)?.length).toBe(20);
    await yieldToEventLoop();
    process.off('warning', warned);
    expect(warnings).toEqual([]);
    closeSockets();
    await app.stop();
  });
});

describe('the time limit of a request', () => {
  it('ends when its response was read', async () => {
    const { route, finish } = counted('/run');
    const { opened: more, open: goOn } = gate();
    const metrics = createMetrics();
    const requests = async (): Promise<boolean> => (await metrics.render()).content.includes('operation="run"');
    const app = await startApp([route], { metrics });
    finish(streamed('first', () => more));
    const socket = await openSocket(app.port);
    socket.write(requestTo('/run'));
    await once(socket, 'data');
    expect(await requests()).toBe(false);
    goOn();
    await expect.poll(requests).toBe(true);
    closeSockets();
    await app.stop();
  });
});
