import { setTimeout as sleep } from 'node:timers/promises';

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { EventStoreDb } from '../../../src/adapters/eventstore/event-store.js';
import { ELECTION_MS } from '../../../src/adapters/eventstore/read-each.js';
import { READ_SILENCE_MS } from '../../../src/adapters/eventstore/store-connection.js';
import type { RecordedEvent } from '../../../src/ports/event-store.js';
import { startStandIn, type StandIn } from '../../stand-in/start.js';
import { trouble } from '../../stand-in/trouble.js';
import { randomNamespace } from '../../support/dist-env.js';
import { event, events, namesOf } from '../../support/events.js';
import { openEventStore } from '../../support/eventstore-server.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

const forwards = { direction: 'forwards', limit: 4096 } as const;

describe('An EventStoreDB that answers but does not serve', () => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let node: StandIn;
  let store: EventStoreDb;
  let logged: string[];
  let namespace: string;
  const open = (url: string, namespace: string): EventStoreDb => {
    logged = [];
    const log = { error: (_: object, message: string) => void logged.push(message), warn: () => undefined };
    return openEventStore({ url, namespace, log });
  };
  beforeEach(async () => {
    directory = await temporaryDirectory();
    node = await startStandIn(directory.path);
    namespace = randomNamespace();
    store = open(node.url, namespace);
  });
  afterEach(async () => {
    trouble(directory.path);
    await store[Symbol.asyncDispose]();
    await node.child[Symbol.asyncDispose]();
    await directory[Symbol.asyncDispose]();
  });

  /** Follows the store until this many events arrived. */
  const follow = async (count: number): Promise<readonly RecordedEvent[]> => {
    const ending = new AbortController();
    const seen: RecordedEvent[] = [];
    for await (const batch of store.subscribe({ after: 0, signal: ending.signal })) {
      seen.push(...batch);
      if (seen.length >= count) ending.abort();
    }
    return seen;
  };

  describe('through the address of a follower', () => {
    let follower: StandIn;
    let behind: Awaited<ReturnType<typeof temporaryDirectory>>;
    let direct: EventStoreDb;
    beforeEach(async () => {
      behind = await temporaryDirectory();
      trouble(behind.path, { leaderPort: node.port });
      follower = await startStandIn(behind.path);
      direct = store;
      store = open(follower.url, namespace);
    });
    afterEach(async () => {
      await direct[Symbol.asyncDispose]();
      await follower.child[Symbol.asyncDispose]();
      await behind[Symbol.asyncDispose]();
    });

    it.each<[string, () => Promise<unknown>, unknown]>([
      ['an append', async () => (await store.append('s', 0, [event('b')])).ok, true],
      ['a read', async () => namesOf((await store.read('s', forwards)).events), ['a']],
      ['the end of the log', async () => (await store.lastPosition()) > 0, true],
      ['the events of all streams', async () => namesOf(await store.readAll(0, 10)), ['a']],
      ['a subscription', async () => namesOf(await follow(1)), ['a']],
    ])('%s reaches the leader, even as the first call', async (_, call, expected) => {
      await direct.append('s', 'no_stream', [event('a')]);
      expect(await call()).toEqual(expected);
    });

    it('reads show every acknowledged append', async () => {
      for (let n = 0; n < 20; n += 1) {
        const stream = `s${String(n)}`;
        await store.append(stream, 'no_stream', [event(`e${String(n)}`)]);
        expect((await store.read(stream, forwards)).lastRevision).toBe(0);
        expect((await direct.read(stream, forwards)).lastRevision).toBe(0);
      }
    });
  });

  it('fails over to another node when the leader freezes, even if the client gets no notice', async () => {
    const other = await temporaryDirectory();
    const second = await startStandIn(other.path);
    trouble(other.path, { leaderPort: node.port });
    // Without its keep-alive the client never notices.
    const nodes = `127.0.0.1:${String(node.port)},127.0.0.1:${String(second.port)}`;
    const cluster = open(`esdb://${nodes}?tls=false&keepAliveInterval=-1`, namespace);
    const [ending, seen] = [new AbortController(), [] as string[]];
    const following = (async () => {
      for await (const batch of cluster.subscribe({ after: 0, signal: ending.signal }))
        seen.push(...(namesOf(batch) as string[]));
    })();
    expect((await cluster.append('s', 'no_stream', [event('a')])).ok).toBe(true);
    await vi.waitFor(() => expect(seen).toEqual(['a']));
    node.child.signal('SIGSTOP');
    const back = { isSo: false };
    const refusedAfterwards: unknown[] = [];
    const reading = (async () => {
      // Calls on the frozen node end one by one, long after another leader exists.
      while (!ending.signal.aborted) {
        const wasBack = back.isSo;
        void cluster.read('s', forwards).then(
          () => (back.isSo = true),
          (error: unknown) => (wasBack ? refusedAfterwards.push(error) : null),
        );
        await sleep(50);
      }
    })();
    try {
      // The second node is elected. Its log has nothing from the first one, as after a leader that replicated nothing.
      trouble(other.path);
      await vi.waitFor(async () => expect((await cluster.append('new', 'no_stream', events('b', 5))).ok).toBe(true), {
        timeout: 30_000,
        interval: 50,
      });
      await vi.waitFor(() => expect(seen).toContain('b-4'), { timeout: 30_000 });
      await sleep(2 * READ_SILENCE_MS);
      expect([back.isSo, refusedAfterwards]).toEqual([true, []]);
    } finally {
      node.child.signal('SIGCONT');
      ending.abort();
      await reading;
      await following;
      await cluster[Symbol.asyncDispose]();
      await second.child[Symbol.asyncDispose]();
      await other[Symbol.asyncDispose]();
    }
  });

  it('reads answers that arrived while our own event loop was blocked', async () => {
    await store.append('s', 'no_stream', [event('a')]);
    const read = store.read('s', forwards);
    await new Promise(setImmediate);
    const untilMs = performance.now() + READ_SILENCE_MS + 200;
    while (performance.now() < untilMs);
    expect(namesOf((await read).events)).toEqual(['a']);
  });

  it('rides out an election of 0.7 s, for writes and reads', async () => {
    await store.append('s', 'no_stream', [event('a')]);
    trouble(directory.path, { electing: true });
    const ahead = [
      store.append('s', 0, [event('b')]),
      store.append('s', 1, [event('c')]),
      store.append('new', 'no_stream', [event('d')]),
    ];
    const read = store.read('s', { direction: 'backwards', limit: 1 });
    await sleep(700);
    trouble(directory.path);
    expect((await Promise.all(ahead)).map(({ ok }) => ok)).toEqual([true, true, true]);
    expect((await read).events).toHaveLength(1);
    expect(namesOf((await store.read('s', forwards)).events)).toEqual(['a', 'b', 'c']);
  });

  it.each([
    ['whose nodes answer', false],
    ['that cuts the calls that write', true],
  ])('rides out an election of 2.5 s %s, also behind another append', async (_, cutsWrites) => {
    await store.append('s', 'no_stream', [event('a')]);
    trouble(directory.path, { electing: true, cutsWrites });
    const ahead = [
      store.append('s', 0, [event('b')]),
      store.append('s', 1, [event('c')]),
      store.append('s', 2, [event('d')]),
      store.append('new', 'no_stream', [event('e')]),
    ];
    await sleep(2_500);
    trouble(directory.path);
    expect((await Promise.all(ahead)).map(({ ok }) => ok)).toEqual([true, true, true, true]);
    expect(namesOf((await store.read('s', forwards)).events)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('does not claim that nothing was written when the answer was lost after an election', async () => {
    await store.append('s', 'no_stream', [event('a')]);
    trouble(directory.path, { electing: true });
    const appending = store.append('s', 0, [event('b')]).catch((error: unknown) => error);
    await sleep(1_000);
    trouble(directory.path, { swallows: true });
    // Either it is found where it was written, or its outcome is unknown.
    const outcome = await appending;
    expect(outcome instanceof Error ? outcome.message : '').not.toContain('Nothing was written');
    trouble(directory.path);
    expect(namesOf((await store.read('s', forwards)).events)).toEqual(['a', 'b']);
  });

  it('reports that nothing was written in an endless election, also for an open call', async () => {
    await store.append('s', 'no_stream', [event('a')]);
    trouble(directory.path, { electing: true });
    const refused = await store.append('s', 0, [event('b')]).catch((error: unknown) => error);
    expect(String(refused)).toContain('Nothing was written');
  });

  it('answers STORE_UNAVAILABLE in an endless election, and that nothing was written [1.5h]', async () => {
    trouble(directory.path, { electing: true });
    const refusal = { code: 'STORE_UNAVAILABLE', retryAfter: 1 };
    expect(ELECTION_MS).toBe(4_000);
    const refused = await store.append('s', 'no_stream', [event('a')]).catch((error: unknown) => error);
    expect(refused).toMatchObject(refusal);
    expect((refused as Error).message).toContain('Nothing was written');
    await expect(store.read('s', forwards)).rejects.toMatchObject(refusal);
    trouble(directory.path);
    expect((await store.read('s', forwards)).lastRevision).toBe(-1);
  });

  it('reports a forbidden write without asking for a retry, until it is allowed [1.5c]', async () => {
    trouble(directory.path, { denies: ['write'] });
    const refused = await store.append('s', 'no_stream', [event('a')]).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'STORE_UNAVAILABLE', cause: { code: 7 } });
    expect(refused).not.toHaveProperty('retryAfter', 1);
    await expect(store.probe()).rejects.toMatchObject({ cause: { code: 7 } });
    trouble(directory.path);
    await store.append('s', 'no_stream', [event('a')]);
    await store.probe();
  });

  it('reports forbidden reads to the reader and in the log, and recovers once they are allowed', async () => {
    await store.append('s', 'no_stream', [event('a')]);
    trouble(directory.path, { denies: ['read'] });
    for (const read of [() => store.read('s', forwards), () => store.readAll(0, 10), () => store.probe()])
      await expect(read()).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        cause: { code: 7 },
        retryAfter: undefined,
      });
    const following = follow(1);
    await vi.waitFor(() => expect(logged).toHaveLength(1));
    expect(logged[0]).toContain('does not allow');
    await sleep(400);
    expect(logged).toHaveLength(1);
    trouble(directory.path);
    expect(await following).toHaveLength(1);
  });

  it('loses and duplicates nothing while every reader is dropped again and again', async () => {
    const names = Array.from({ length: 50 }, (_, n) => `e-${String(n)}`);
    await store.append('s', 'no_stream', events('e', 50));
    trouble(directory.path, { dropAfter: 3 });
    expect(namesOf(await store.readAll(0, 100))).toEqual(names);
    expect(namesOf(await store.readAll(0, 20))).toEqual(names.slice(0, 20));
    expect(namesOf(await follow(50))).toEqual(names);
  });
});
