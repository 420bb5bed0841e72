import { describe, expect, it, vi } from 'vitest';

import { createFromBefore } from '../../../src/features/proofs/from-before.js';
import { logEventOf, newestCheckpoint } from '../../../src/features/proofs/log.js';
import { createNews } from '../../../src/features/proofs/news.js';
import { accessStream, logStream, npcStream } from '../../../src/kernel/base/stream-names.js';
import { sha256Hex } from '../../../src/kernel/crypto/sha256.js';
import { hashInput } from '../../support/hash-input.js';
import type { CheckpointReceiver, KeptCheckpoint } from '../../../src/ports/checkpoint-receiver.js';
import type { RecordedEvent } from '../../../src/ports/event-store.js';
import { allEvents } from '../../support/all-events.js';
import { changedStore } from '../../support/changed-store.js';
import { event } from '../../support/events.js';
import { forged } from '../../support/forge.js';
import { LOG_TENANT, openLog } from '../../support/logs.js';
import { MemoryEventStore } from '../../support/memory/event-store.js';
import { checksOf, seals } from '../../support/seals.js';

const LOG = logStream(LOG_TENANT);
const MIRA = npcStream(LOG_TENANT, 'mira');
const DAY_MS = 24 * 60 * 60 * 1_000;
const NEVER = new AbortController().signal;

type Log = Awaited<ReturnType<typeof openLog>>;
type Opened = NonNullable<Parameters<typeof openLog>[0]>;

/** A server that trusts nothing in this store that it did not record. */
const opened = (events: MemoryEventStore, more: Opened = {}): Promise<Log> =>
  openLog({ events, checks: checksOf(events), ...more });
const prepared = async (work: (log: Log) => Promise<unknown>, more: Opened = {}): Promise<MemoryEventStore> => {
  const events = new MemoryEventStore();
  await using log = await opened(events, more);
  await work(log);
  return events;
};
const logEvents = async (events: MemoryEventStore): Promise<readonly RecordedEvent[]> => {
  const found: RecordedEvent[] = [];
  for await (const one of allEvents(events)) if (one.stream === LOG) found.push(one);
  return found;
};
const leaves = async (events: MemoryEventStore): Promise<readonly (readonly [string, number | undefined, number])[]> =>
  (await logEvents(events))
    .map(logEventOf)
    .flatMap((one) => (one.type === 'LeavesLogged' ? one.data.leaves : []))
    .map(({ stream, from, revision }) => [stream, from, revision]);

/** The whole log replaced by one event that says that it was restarted. */
const restartedBy =
  (origin: string) =>
  (all: readonly RecordedEvent[]): readonly RecordedEvent[] => {
    const [first] = all as [RecordedEvent];
    const { mac: _, process: __, ...meta } = first.meta;
    const data = { size: 0, through: 0, checkpoint: null, origin, reason: 'x' };
    const unhashed = { ...first, type: 'LogRestarted', data, meta: { ...meta, prevHash: '0'.repeat(64) } };
    return [{ ...unhashed, meta: { ...unhashed.meta, hash: sha256Hex(hashInput(unhashed)) } }];
  };

describe('a log in a store that somebody changed', () => {
  it('is not signed if one of its own events is not what was recorded, and says so at once [10.5z]', async () => {
    const intact = await prepared(async (log) => {
      await log.write('mira', { n: 1 });
      await log.checkpoint();
      await log.write('mira', { n: 2 });
    });
    const origin = `minds.example/audit/${LOG_TENANT}/2`;
    for (const [revision, events] of [
      [0, await changedStore(intact, LOG, restartedBy(origin))],
      [1, await changedStore(intact, LOG, (all) => forged(all, 1, ({ data }) => ({ data: { ...data, kinds: [] } })))],
    ] as const) {
      await using log = await opened(events);
      const ends = await events.lastPosition();
      const refusal = { code: 'CHAIN_BROKEN', retryAfter: undefined, details: { stream: LOG, revision } };
      const begunMs = performance.now();
      await expect(log.checkpoint()).rejects.toMatchObject(refusal);
      await expect(log.restart('as if it were mine')).rejects.toMatchObject(refusal);
      expect(performance.now() - begunMs).toBeLessThan(400);
      expect(await events.lastPosition()).toBe(ends);
    }
  });

  it('is signed if only its events from before seals have none [10.13d]', async () => {
    const events = await prepared(
      async (log) => {
        for (let n = 0; n < 3; n += 1) {
          await log.write('mira', { n });
          await log.checkpoint();
        }
      },
      { sealing: null, checks: { isBroken: never, requireGood: nothing, requireWhole: nothing } },
    );
    const now = () => new Date();
    const checks = () => checksOf(events, createFromBefore({ events, seals, clock: { now } }));
    await using upgraded = await openLog({ events, checks: checks() });
    await upgraded.write('mira', { n: 3 });
    await upgraded.checkpoint();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * DAY_MS });
    try {
      await using log = await openLog({ events, checks: checks() });
      await log.write('mira', { n: 4 });
      expect(await log.checkpoint()).toMatchObject({ size: 5 });
      // What an older server adds later does not count.
      await using older = await openLog({ events, sealing: null });
      await older.write('mira', { n: 5 });
      await older.checkpoint();
      await using later = await openLog({ events, checks: checks() });
      await expect(later.checkpoint()).rejects.toMatchObject({ code: 'CHAIN_BROKEN' });
    } finally {
      vi.useRealTimers();
    }
  });

  it('gets no head that covers an event which is not good, also in later rounds [10.5y]', async () => {
    const intact = await prepared(async (log) => {
      await log.write('mira', { n: 0 });
      await log.write('odo', { n: 0 });
      await log.checkpoint();
      await log.write('mira', { n: 1 }, { n: 2 });
    });
    const events = await changedStore(intact, MIRA, (all) => forged(all, 1, () => ({ data: { n: 'forged' } })));
    await using log = await opened(events);
    for (let round = 3; round < 6; round += 1) {
      await log.write('mira', { n: round });
      await log.write('odo', { n: round });
      await log.checkpoint();
    }
    const odo = npcStream(LOG_TENANT, 'odo');
    expect(await leaves(events)).toEqual([[MIRA, 0, 0], ...[0, 1, 2, 3].map((revision) => [odo, revision, revision])]);
    // When the events were restored, the next head covers all since the last one.
    const original: RecordedEvent[] = [];
    for await (const one of allEvents(intact)) if (one.stream === MIRA) original.push(one);
    const mended = await changedStore(events, MIRA, (all) => [...original, ...all.slice(original.length)]);
    await using restored = await opened(mended);
    await restored.write('mira', { n: 6 });
    await restored.checkpoint();
    expect((await leaves(mended)).at(-1)).toEqual([MIRA, 1, 6]);
  });

  it('is not held up by an event of an impossible form [10.5y]', async () => {
    const intact = await prepared(async (log) => {
      await log.write('mira', { n: 0 });
      await log.write('odo', { n: 0 });
    });
    for (const meta of [
      { hash: 5 },
      { hash: null },
      { hash: 'xyz' },
      { mac: 5 },
      { at: {} },
      { prevHash: 7 },
    ] as unknown as readonly Partial<RecordedEvent['meta']>[]) {
      const events = await changedStore(intact, MIRA, (all) =>
        all.map((one) => ({ ...one, meta: { ...one.meta, ...meta } })),
      );
      await using log = await opened(events);
      expect(await log.checkpoint(), JSON.stringify(meta)).toMatchObject({ size: 1 });
      expect((await leaves(events)).map(([stream]) => stream)).toEqual([npcStream(LOG_TENANT, 'odo')]);
    }
  });
});

const never = (): Promise<boolean> => Promise.resolve(false);
const nothing = (): Promise<void> => Promise.resolve();

describe('a log whose checkpoints are published', () => {
  const keeping = (kept: KeptCheckpoint | 'missing' | null | Error) => {
    const receiver = {
      kept,
      handOn: () => Promise.resolve(),
      lastKept: () => (receiver.kept instanceof Error ? Promise.reject(receiver.kept) : Promise.resolve(receiver.kept)),
    };
    return receiver satisfies CheckpointReceiver;
  };

  it('is not signed while what was published cannot be read, or is gone [10.5u]', async () => {
    const receiver = keeping('missing');
    const events = new MemoryEventStore();
    await using log = await opened(events, { receiver });
    await log.write('mira', { n: 1 });
    expect(await log.checkpoint()).toMatchObject({ size: 1 });
    await log.write('mira', { n: 2 });
    const ends = await events.lastPosition();
    for (const [kept, why] of [
      ['missing', 'is missing'],
      [new Error('EACCES: permission denied'), 'EACCES'],
    ] as const) {
      receiver.kept = kept;
      await expect(log.checkpoint()).rejects.toMatchObject({
        code: 'LOG_BEHIND',
        message: expect.stringContaining(why) as string,
        details: { size: 1, published: 1 },
      });
    }
    expect(await events.lastPosition()).toBe(ends);
    receiver.kept = null;
    expect(await log.checkpoint()).toMatchObject({ size: 2 });
  });

  it('is not signed if it is a fork of what was published [10.5u]', async () => {
    const receiver = keeping(null);
    await using log = await opened(new MemoryEventStore(), { receiver });
    await log.write('mira', { n: 1 });
    const first = await log.checkpoint();
    await log.write('mira', { n: 2 });
    const second = await log.checkpoint();
    await log.write('mira', { n: 3 });
    for (const forked of [
      { ...second, root: 'f'.repeat(64) },
      { ...first, root: 'f'.repeat(64) },
      { ...second, origin: `${second.origin}/2` },
    ]) {
      receiver.kept = forked;
      await expect(log.checkpoint()).rejects.toMatchObject({ code: 'LOG_BEHIND', details: { published: forked.size } });
    }
    receiver.kept = first;
    expect(await log.checkpoint()).toMatchObject({ size: 3 });
  });

  it('continues under another name only if a server with the secret has renamed it [10.5u, 10.5v]', async () => {
    const receiver = keeping(null);
    const old = await prepared(
      async (log) => {
        for (let n = 0; n < 3; n += 1) {
          await log.write('mira', { n });
          await log.checkpoint();
        }
      },
      { sealing: null, checks: { isBroken: never, requireGood: nothing, requireWhole: nothing } },
    );
    const newest = await newestCheckpoint(old, LOG_TENANT);
    receiver.kept = newest && { ...newest };
    const events = await changedStore(old, LOG, restartedBy(`${newest?.origin ?? ''}/2`));
    // In a store that an older version began, nobody can tell that this event was forged.
    const checks = checksOf(events, createFromBefore({ events, seals, clock: { now: () => new Date() } }));
    await using log = await openLog({ events, receiver, checks });
    await expect(log.checkpoint()).rejects.toMatchObject({ code: 'LOG_BEHIND', details: { published: 3 } });
    await log.restart('the log was lost');
    expect((await log.checkpoint()).origin).toBe(`${newest?.origin ?? ''}/3`);
  });
});

describe('the search for what a log lacks', () => {
  it('does not read again what it has read for a tenant [10.5f]', async () => {
    const events = new MemoryEventStore();
    const other = npcStream('other', 'm');
    for (let n = 0; n < 20; n += 1)
      await events.append(
        other,
        n === 0 ? 'no_stream' : n * 100 - 1,
        Array.from({ length: 100 }, (_, at) => event(`${String(n)} ${String(at)}`)),
      );
    let read = 0;
    const news = createNews({
      readAll: async (after, limit) => {
        const page = await events.readAll(after, limit);
        read += page.length;
        return page;
      },
    });
    const look = (after: number) => news(LOG_TENANT, after, NEVER);
    expect([await look(0), read]).toEqual([null, 2_000]);
    await events.append(accessStream(LOG_TENANT), 'no_stream', [event('accessed')]);
    expect([await look(0), read]).toEqual([null, 2_001]);
    await events.append(MIRA, 'no_stream', [event('first'), event('second')]);
    // The access before it is logged too.
    expect([await look(0), read]).toEqual([2_001, 2_003]);
    expect(await look(2_001)).toBe(2_002);
    expect(await look(2_002)).toBe(2_003);
    expect(await look(2_003)).toBeNull();
    expect(await look(0)).toBe(2_001);
  });
});
