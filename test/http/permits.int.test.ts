import { once } from 'node:events';

import { afterEach, describe, expect, it } from 'vitest';

import { createMetrics } from '../../src/adapters/prometheus/metrics.js';
import type { Answer } from '../../src/http/route.js';
import { gate } from '../support/gate.js';
import { startApp, type TestApp } from '../support/http.js';
import { closeSockets, openSocket } from '../support/sockets.js';
import { runRoute, streamed, streams } from './fake-routes.js';

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

  it('is given back when the client leaves that waits for an earlier answer on its connection', async () => {
    const first = counted('/first');
    const second = counted('/second');
    app = await startApp([first.route, second.route]);
    const socket = await openSocket(app.port);
    socket.write(requestTo('/first') + requestTo('/second'));
    await expect.poll(() => second.held.handlers).toBe(1);
    second.finish({ body: {} });
    await expect.poll(() => second.held.ended).toBe(1);
    expect(second.held.permits).toBe(1);
    socket.destroy();
    await expect.poll(() => second.held.permits).toBe(0);
    first.finish({ body: {} });
    await expect.poll(() => first.held.permits).toBe(0);
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
