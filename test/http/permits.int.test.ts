import { once } from 'node:events';

import { afterEach, describe, expect, it } from 'vitest';

import { createMetrics } from '../../src/adapters/prometheus/metrics.js';
import { yieldToEventLoop } from '../../src/concurrency/yield-to-event-loop.js';
import type { Answer } from '../../src/http/route.js';
import { gate } from '../support/gate.js';
import { startApp, type TestApp } from '../support/http.js';
import { closeSockets, openSocket } from '../support/sockets.js';
import { runRoute, streamed, streams, untilLeft } from './fake-routes.js';

const requestTo = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\n\r\n`;

/** A route whose permits are counted, and which answers when it is told to. */
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

  it('is kept until its stream was taken', async () => {
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

  it('is kept while its handler runs, although its client has left, and given back then', async () => {
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

  it('is given back with a whole answer that waits for an endless one on its connection', async () => {
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

  it('is given back when the client leaves whose stream waits for an earlier answer on its connection', async () => {
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

  it('for a large body is given back when that is refused, although its client goes on sending', async () => {
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

describe('a request', () => {
  it('prints no warning, however much waits for its end', async () => {
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

describe('the time of a request', () => {
  it('ends when its answer was taken', async () => {
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
