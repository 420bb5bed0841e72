import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../../support/memory/event-store.js';
import { yieldToEventLoop } from '../../../../src/kernel/concurrency/yield-to-event-loop.js';
import { npcStream } from '../../../../src/kernel/base/stream-names.js';
import { createLifecycle } from '../../../../src/kernel/http/lifecycle.js';
import type { RouteDefinition } from '../../../../src/kernel/http/route.js';
import { COMMENT_EVERY_MS } from '../../../../src/kernel/http/event-stream.js';
import { eventRoutes, STREAMS_PER_KEY } from '../../../../src/features/npcs/http/events.js';
import type { EventStore } from '../../../../src/ports/event-store.js';
import { event } from '../../../support/events.js';
import { startApp, type TestApp, testPrincipal } from '../../../support/http.js';
import { ManualClock } from '../../../support/manual-clock.js';
import { closeSockets, openSocket } from '../../../support/sockets.js';
import { storeWith } from '../../../support/streams.js';

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await yieldToEventLoop();
};

describe('a stream of events', () => {
  const stream = npcStream('local', 'mira');
  const clock = new ManualClock();
  let memory: MemoryEventStore;
  let app: TestApp;
  /** The open responses, how many of their clients have left, and how many were cancelled or begun. */
  let responses: ServerResponse[];
  let left: number;
  let handled: number;

  const watched = (route: RouteDefinition): RouteDefinition => ({
    ...route,
    handler: async (call) => {
      responses.push(call.koa.res);
      call.koa.res.once('close', () => (left += 1));
      try {
        return await route.handler(call);
      } finally {
        handled += 1;
      }
    },
  });
  const start = async (events: EventStore, of: Parameters<typeof testPrincipal>[0] = {}): Promise<void> => {
    const lifecycle = createLifecycle();
    const routes = eventRoutes({ ports: { events }, onRevoked: () => () => undefined });
    app = await startApp(routes.map(watched), { clock, lifecycle, keys: { good: testPrincipal(of) } });
    lifecycle.ready();
  };
  const ask = async (query = '', header = ''): Promise<Socket> => {
    const socket = await openSocket(app.port);
    socket.write(`GET /npcs/mira/events${query} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\n${header}\r\n`);
    return socket;
  };

  beforeEach(() => {
    memory = new MemoryEventStore();
    [responses, left, handled] = [[], 0, 0];
  });
  afterEach(async () => {
    closeSockets();
    await app.stop();
  });

  it('ends when its client leaves during the first read, and frees its slot under the limit of the key', async () => {
    await memory.append(stream, 'no_stream', [event('a')]);
    let held: (() => void)[] | null = [];
    const read: EventStore['read'] = async (name, range) => {
      if (held !== null) await new Promise<void>((resolve) => held?.push(resolve));
      return memory.read(name, range);
    };
    await start(storeWith(memory, { read }));
    const clients = await Promise.all(Array.from({ length: STREAMS_PER_KEY }, () => ask()));
    await until(() => held?.length === STREAMS_PER_KEY);
    for (const client of clients) client.destroy();
    await until(() => left === STREAMS_PER_KEY);
    const waiting = held;
    held = null;
    for (const release of waiting) release();
    await until(() => handled === STREAMS_PER_KEY);
    const again = await ask();
    const [answer] = (await once(again, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 200 /);
    again.destroy();
  });

  it('buffers only the current write for a client that does not read', async () => {
    const [count, size] = [80, 500_000];
    for (let n = 0; n < count; n += 1)
      await memory.append(stream, n === 0 ? 'no_stream' : n - 1, [
        event(`e${n}`, { data: { text: 'x'.repeat(size) } }),
      ]);
    let taken = 0;
    await start(
      storeWith(memory, {
        subscribe: async function* (options) {
          for await (const batch of memory.subscribe(options)) {
            taken += batch.length;
            yield batch;
          }
        },
      }),
    );
    const client = await ask();
    client.pause();
    await until(() => responses[0]?.writableNeedDrain === true);
    // The system’s buffers fill gradually; once they are full, nothing moves.
    for (let still = 0, before = taken; still < 2_000; still += 1) {
      await yieldToEventLoop();
      if (taken !== before || responses[0]?.writableNeedDrain !== true) [still, before] = [0, taken];
    }
    const waiting = responses[0]?.writableLength ?? 0;
    expect(waiting).toBeLessThan(2 * size);
    expect(taken).toBeLessThan(count);
    await clock.advance(10 * COMMENT_EVERY_MS);
    expect(responses[0]?.writableLength).toBe(waiting);
    client.destroy();
    await until(() => left === 1);
  });

  it.each([
    ['the first event', '', '', [0, 1, 2]],
    ['a revision, included', '?from=1', '', [1, 2]],
    ['after the last event that the client has', '?from=0', 'Last-Event-ID: 1\r\n', [2]],
  ])('begins at %s [10.1k]', async (_, query, header, revisions) => {
    await memory.append(stream, 'no_stream', [event('a'), event('b'), event('c')]);
    await start(memory);
    const client = await ask(query, header);
    let text = '';
    client.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await until(() => /id: 2\ndata: .*\n\n/.test(text));
    expect([...text.matchAll(/^id: (\d+)\ndata: \{.*\}\n\n/gm)].map((match) => Number(match[1]))).toEqual(revisions);
    client.destroy();
    await until(() => left === 1);
  });

  it('counts as one request for the rate limit, however many events it has [10.1l]', async () => {
    await memory.append(stream, 'no_stream', [event('a'), event('b'), event('c')]);
    await start(memory, { rateLimit: { limit: 2, windowSeconds: 60 } });
    const textOf = async (isWhole: (text: string) => boolean): Promise<string> => {
      const client = await ask();
      let text = '';
      client.on('data', (chunk: Buffer) => (text += chunk.toString()));
      await until(() => isWhole(text));
      return text;
    };
    for (const remaining of [1, 0])
      expect(await textOf((text) => text.includes('id: 2\n'))).toMatch(
        new RegExp(`^HTTP/1.1 200 [^]*ratelimit: "default";r=${String(remaining)};`, 'i'),
      );
    expect(await textOf((text) => text.includes('RATE_LIMITED'))).toMatch(/^HTTP\/1.1 429 /);
  });

  it('contains a regular comment for a client that reads [10.1l]', async () => {
    await memory.append(stream, 'no_stream', [event('a')]);
    await start(memory);
    const client = await ask();
    let text = '';
    client.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await until(() => text.includes('id: 0\n'));
    expect(COMMENT_EVERY_MS).toBe(15_000);
    await clock.advance(COMMENT_EVERY_MS);
    await until(() => text.includes('\n:\n\n'));
    client.destroy();
    await until(() => left === 1);
  });
});
