import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { EventStoreDb } from '../../../src/adapters/eventstore/event-store.js';
import type { AppendOutcome, RecordedEvent } from '../../../src/ports/event-store.js';
import { startTypeScript } from '../../support/child.js';
import { randomNamespace } from '../../support/dist-env.js';
import { event, events, namesOf } from '../../support/events.js';
import { urlOf } from '../../stand-in/start.js';
import { gate } from '../../support/gate.js';
import { KillableEventStore, openEventStore } from '../../support/eventstore-server.js';
import { TcpRelay } from '../../support/tcp-relay.js';

const forwards = { direction: 'forwards', limit: 4096 } as const;
const unavailable = { code: 'STORE_UNAVAILABLE', retryAfter: 1 };
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const untilTrue = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await condition())) await pause(5);
};

describe('EventStoreDB under faults', () => {
  let server: KillableEventStore;
  let namespace: string;
  let store: EventStoreDb;
  beforeEach(async () => {
    server = await KillableEventStore.start();
    namespace = randomNamespace();
    store = openEventStore({ url: server.url, namespace });
  });
  afterEach(async () => {
    server.thaw();
    await store[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  /** Collects a subscription into a list until `ending` aborts. */
  const collect = (seen: RecordedEvent[], ending: AbortController): Promise<void> =>
    (async () => {
      for await (const batch of store.subscribe({ after: 0, signal: ending.signal })) seen.push(...batch);
    })();

  it('keeps every acknowledged event exactly once when it is killed and restarted under load', async () => {
    const [streams, ahead] = [32, 4];
    let stopped = false;
    let acknowledged = 0;
    let refused = 0;
    const lengths = new Map<string, number>();
    /** Pipelines a few appends; refused ones are sent again with the same ids, as a repeated command does. */
    const writer = async (stream: string): Promise<void> => {
      let next = 0;
      while (!stopped) {
        const sent = Array.from({ length: ahead }, (_, index) => {
          const revision = next + index;
          return store.append(stream, revision === 0 ? 'no_stream' : revision - 1, [event(`${stream}-${revision}`)]);
        });
        for (const result of await Promise.allSettled(sent)) {
          if (result.status === 'rejected') {
            expect(result.reason).toMatchObject(unavailable);
            refused += 1;
            await pause(10);
            break;
          }
          if (!result.value.ok) break;
          expect(result.value.revision).toBe(next);
          next += 1;
          acknowledged += 1;
        }
      }
      lengths.set(stream, next);
    };
    const ending = new AbortController();
    const seen: RecordedEvent[] = [];
    const watching = collect(seen, ending);
    const writing = Promise.all(Array.from({ length: streams }, (_, index) => writer(`s${index}`)));
    for (const away of [0, 500, 2_500]) {
      const before = acknowledged;
      await untilTrue(() => acknowledged > before + 400);
      await server.kill();
      await pause(away);
      await server.restart();
    }
    const before = acknowledged;
    await untilTrue(() => acknowledged > before + 400);
    stopped = true;
    await writing;

    expect(refused).toBeGreaterThan(0);
    let written = 0;
    for (const [stream, length] of lengths) {
      const read = await store.read(stream, forwards);
      // Appends that were pipelined before a lost one may follow the acknowledged ones, but nothing else may.
      expect(namesOf(read.events)).toEqual(read.events.map((_, revision) => `${stream}-${revision}`));
      expect(read.events.length).toBeGreaterThanOrEqual(length);
      written += read.events.length;
    }
    await untilTrue(() => seen.length >= written);
    ending.abort();
    await watching;
    expect(seen).toEqual(await store.readAll(0, 100_000));
    expect(seen).toHaveLength(written);
  });

  it('refuses appends and reads while it is down, and works again once it is back', async () => {
    await store.append('s', 'no_stream', [event('a')]);
    await server.kill();
    await expect(store.append('s', 0, [event('b')])).rejects.toMatchObject(unavailable);
    await expect(store.append('s', 0, [event('b')])).rejects.toMatchObject(unavailable);
    await expect(store.read('s', forwards)).rejects.toMatchObject(unavailable);
    await expect(store.readAll(0, 10)).rejects.toMatchObject(unavailable);
    await expect(store.lastPosition()).rejects.toMatchObject(unavailable);
    await server.restart();
    expect(await store.append('s', 0, [event('b')])).toMatchObject({ ok: true, revision: 1, repeated: false });
    expect(namesOf((await store.read('s', forwards)).events)).toEqual(['a', 'b']);
  });

  it('refuses appends and reads while it is silent, and returns what it wrote afterwards', async () => {
    await store.append('s', 'no_stream', [event('a')]);
    server.freeze();
    const asked = await Promise.allSettled([
      store.append('s', 0, [event('b')]),
      store.append('new', 'no_stream', [event('c')]),
      store.read('s', forwards),
      store.readAll(0, 10),
      store.lastPosition(),
    ]);
    server.thaw();
    expect(asked).toEqual(asked.map(() => expect.objectContaining({ status: 'rejected' })));
    for (const answer of asked) expect(answer).toMatchObject({ reason: unavailable });
    expect(await store.append('s', 0, [event('b')])).toMatchObject({ ok: true, revision: 1 });
    expect(await store.append('new', 'no_stream', [event('c')])).toMatchObject({ ok: true, revision: 0 });
    expect(namesOf((await store.read('s', forwards)).events)).toEqual(['a', 'b']);
  });

  it('refuses appends beyond the in-flight limit, and accepts others once those are answered', async () => {
    await store[Symbol.asyncDispose]();
    store = openEventStore({ url: server.url, namespace, bounds: { appendsInFlight: 8 } });
    const sent = Array.from({ length: 10 }, (_, index) => store.append(`s${index}`, 'no_stream', [event('a')]));
    const settled = await Promise.allSettled(sent);
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(8);
    expect(settled.slice(8)).toMatchObject([{ reason: { code: 'BUSY' } }, { reason: { code: 'BUSY' } }]);
    expect(await store.append('s8', 'no_stream', [event('a')])).toMatchObject({ ok: true });
  });

  it('delivers every event that a slow reader missed, exactly once', async () => {
    const ending = new AbortController();
    const seen: RecordedEvent[] = [];
    const { opened: held, open: release } = gate();
    const reading = (async () => {
      for await (const batch of store.subscribe({ after: 0, signal: ending.signal })) {
        seen.push(...batch);
        await held;
        if (seen.length >= 3_001) return;
      }
    })();
    await store.append('s0', 'no_stream', [event('first')]);
    await untilTrue(() => seen.length > 0);
    for (let index = 1; index <= 60; index += 1) await store.append(`s${index}`, 'no_stream', events(`e${index}`, 50));
    expect(seen).toHaveLength(1);
    release();
    await reading;
    expect(seen).toEqual(await store.readAll(0, 4_000));
  });

  it('keeps a subscription to one stream gapless while the server is killed', async () => {
    const ending = new AbortController();
    const seen: RecordedEvent[] = [];
    const watching = (async () => {
      for await (const batch of store.subscribe({ stream: { name: 's', from: 1 }, signal: ending.signal }))
        seen.push(...batch);
    })();
    await store.append('s', 'no_stream', events('a', 3));
    await untilTrue(() => seen.length === 2);
    await server.kill();
    await pause(100);
    await server.restart();
    await store.append('other', 'no_stream', [event('other')]);
    await store.append('s', 2, events('b', 3));
    await untilTrue(() => seen.length >= 5);
    ending.abort();
    await watching;
    expect(namesOf(seen)).toEqual(['a-1', 'a-2', 'b-0', 'b-1', 'b-2']);
  });

  it('sees only the streams of its own namespace [11.1g]', async () => {
    const other = openEventStore({ url: server.url, namespace: `${namespace}-2` });
    await other.append('s', 'no_stream', events('other', 40));
    await store.append('s', 'no_stream', [event('own')]);
    await other.append('s', 39, events('more', 40));
    expect(namesOf(await store.readAll(0, 100))).toEqual(['own']);
    expect(await store.lastPosition()).toBe((await store.readAll(0, 1))[0]?.position);
    const third = openEventStore({ url: server.url, namespace: randomNamespace() });
    expect(await third.lastPosition()).toBe(0);
    expect(await third.readAll(0, 10)).toEqual([]);
    await Promise.all([other, third].map((opened) => opened[Symbol.asyncDispose]()));
  });

  it('closes with an open subscription, and lets the process exit', async () => {
    await using child = startTypeScript(new URL('../../support/eventstore-process.ts', import.meta.url), {
      args: [server.url],
    });
    expect(await child.waitForLine(/^closed/)).toBe('closed, subscription: STORE_UNAVAILABLE');
    expect(await child.exited()).toMatchObject({ code: 0 });
  });

  describe('when the answer to an append is lost', () => {
    let relay: TcpRelay;
    let behind: EventStoreDb;
    beforeEach(async () => {
      relay = new TcpRelay({ host: '127.0.0.1', port: server.port });
      await relay.open();
      behind = openEventStore({ url: urlOf(relay.port), namespace });
      await behind.append('open', 'no_stream', [event('open')]);
    });
    afterEach(async () => {
      await behind[Symbol.asyncDispose]();
      await relay[Symbol.asyncDispose]();
    });
    const reconnect = async (): Promise<void> => {
      await relay.close();
      relay.mute(false);
      relay.silence(false);
      await relay.open();
    };
    const length = async (stream: string): Promise<number> => (await store.read(stream, forwards)).lastRevision + 1;

    it('finds that the append was written', async () => {
      relay.mute(true);
      const sent = behind.append('s', 'no_stream', events('a', 2));
      await untilTrue(async () => (await length('s')) === 2);
      await reconnect();
      expect(await sent).toMatchObject({ ok: true, revision: 1, repeated: false });
      expect(await length('s')).toBe(2);
    });

    it('sends the append again when it was not written', async () => {
      relay.silence(true);
      const sent = behind.append('s', 'no_stream', [event('a')]);
      await pause(50);
      await reconnect();
      expect(await sent).toMatchObject({ ok: true, revision: 0, repeated: false });
      expect(await length('s')).toBe(1);
    });

    it('detects that another writer was first', async () => {
      relay.silence(true);
      const sent = behind.append('s', 'no_stream', [event('a')]);
      await store.append('s', 'no_stream', events('b', 2));
      await reconnect();
      expect(await sent).toEqual({ ok: false, actual: 1 });
      expect(namesOf((await store.read('s', forwards)).events)).toEqual(['b-0', 'b-1']);
    });

    it.each(['silence', 'mute'] as const)('keeps the order of pipelined appends (%s)', async (fault) => {
      relay[fault](true);
      const sent: Promise<AppendOutcome>[] = [];
      for (let revision = -1; revision < 19; revision += 1)
        sent.push(behind.append('s', revision < 0 ? 'no_stream' : revision, [event(`e${revision + 1}`)]));
      await pause(50);
      await reconnect();
      const last = behind.append('s', 19, [event('e20')]);
      const outcomes = await Promise.all([...sent, last]);
      expect(outcomes.map((outcome) => outcome.ok && outcome.revision)).toEqual(
        Array.from({ length: 21 }, (_, index) => index),
      );
      expect(namesOf((await store.read('s', forwards)).events)).toEqual(
        Array.from({ length: 21 }, (_, index) => `e${index}`),
      );
    });

    it('reports an unknown outcome while the store stays away, and answers a repeat with what was written', async () => {
      relay.mute(true);
      const sent = behind.append('s', 'no_stream', [event('a')]);
      await expect(sent).rejects.toMatchObject({
        ...unavailable,
        message: expect.stringContaining('outcome is unknown') as unknown,
      });
      await reconnect();
      expect(await behind.append('s', 'no_stream', [event('a')])).toMatchObject({ ok: true, revision: 0 });
      expect(await length('s')).toBe(1);
    });
  });
});
