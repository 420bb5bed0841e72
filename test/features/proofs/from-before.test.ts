import { afterEach, describe, expect, it, vi } from 'vitest';

import { createFromBefore } from '../../../src/features/proofs/from-before.js';
import { npcStream, rulesetStream, signingKeysStream, tenantsStream } from '../../../src/kernel/base/stream-names.js';
import type { EventStore, RecordedEvent } from '../../../src/ports/event-store.js';
import { allEvents } from '../../support/all-events.js';
import { forged } from '../../support/forge.js';
import { LOG_TENANT, openLog } from '../../support/logs.js';
import { MemoryEventStore } from '../../support/memory/event-store.js';
import { seals } from '../../support/seals.js';

const MIRA = npcStream(LOG_TENANT, 'mira');
const DAY_MS = 24 * 60 * 60 * 1_000;

/** A server of this version, or of one before seals, on the same store. */
const newer = (events: MemoryEventStore) => openLog({ events });
const older = (events: MemoryEventStore) => openLog({ events, sealing: null });
type Log = Awaited<ReturnType<typeof openLog>>;

const using = async (open: Promise<Log>, work: (log: Log) => Promise<unknown>): Promise<void> => {
  await using log = await open;
  await work(log);
};

/** Whether each event of the mind counts as from before the upgrade; `days` after the present. */
const judged = async (events: Pick<EventStore, 'read'>, days: number, stream = MIRA): Promise<readonly boolean[]> => {
  const isFromBefore = createFromBefore({ events, seals, clock: { now: () => new Date(Date.now() + days * DAY_MS) } });
  const { events: all } = await events.read(stream, { direction: 'forwards', limit: 500 });
  return Promise.all(all.map(isFromBefore));
};

/** The store after someone changed an event of the mind and computed its chain again. */
const forgedStore = async (events: MemoryEventStore, at: number): Promise<MemoryEventStore> => {
  const all: RecordedEvent[] = [];
  for await (const event of allEvents(events)) all.push(event);
  const mine = all.filter(({ stream }) => stream === MIRA);
  const changed = forged(mine, at, () => ({ data: { text: 'forged' } }), 'removed');
  const copy = new MemoryEventStore();
  for (const event of all) {
    const now = event.stream === MIRA ? (changed[event.revision] ?? event) : event;
    await copy.append(event.stream, event.revision === 0 ? 'no_stream' : event.revision - 1, [now]);
  }
  return copy;
};

/** A store that an older version began: three events in the log, then two more, then this version. */
const upgraded = async (): Promise<MemoryEventStore> => {
  const events = new MemoryEventStore();
  await using(older(events), async (log) => {
    for (let n = 0; n < 30; n += 1) await log.write(`other ${String(n)}`, { n });
    await log.write('mira', { n: 0 }, { n: 1 }, { n: 2 });
    await log.checkpoint();
    await log.write('mira', { n: 3 }, { n: 4 });
  });
  return events;
};

afterEach(() => vi.useRealTimers());

describe('an event without a seal in a store that an older version began [10.13d]', () => {
  it('is good until a day after the first sealed event of the log', async () => {
    const events = await upgraded();
    expect(await judged(events, 100)).toEqual([true, true, true, true, true]);
    await using(newer(events), (log) => log.checkpoint());
    expect(await judged(events, 0.9)).toEqual([true, true, true, true, true]);
  });

  it('is good until then in every stream that a log holds, and in no other', async () => {
    const events = await upgraded();
    const [first] = (await events.read(MIRA, { direction: 'forwards', limit: 1 })).events as [RecordedEvent];
    const isFromBefore = createFromBefore({ events, seals, clock: { now: () => new Date() } });
    const streams = [rulesetStream(LOG_TENANT, 'gate'), tenantsStream, signingKeysStream, 'import-studio.x'];
    expect(await Promise.all(streams.map((stream) => isFromBefore({ ...first, stream })))).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });

  it('is good later if a chain leads from it to a head that was in the log then', async () => {
    const events = await upgraded();
    await using(newer(events), (log) => log.checkpoint());
    expect(await judged(events, 2)).toEqual([true, true, true, true, true]);
    expect(await judged(events, 2, npcStream(LOG_TENANT, 'other 7'))).toEqual([true]);
  });

  it('is good if an older server wrote it during the upgrade and the log took it in then', async () => {
    const events = await upgraded();
    await using(newer(events), (log) => log.checkpoint());
    await using(older(events), (log) => log.write('mira', { n: 5 }));
    expect(await judged(events, 2)).toEqual([true, true, true, true, true, false]);
    await using(newer(events), (log) => log.checkpoint());
    expect(await judged(events, 2)).toEqual([true, true, true, true, true, true]);
  });

  it('is not good if it was changed, even after events with seals followed and were logged', async () => {
    const events = await upgraded();
    await using(newer(events), (log) => log.checkpoint());
    for (const at of [1, 4]) {
      const changed = await forgedStore(events, at);
      const expected = [0, 1, 2, 3, 4].map(() => false);
      expect(await judged(changed, 2)).toEqual(expected.map((_, n) => at === 4 && n < 3));
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * DAY_MS });
      await using(newer(changed), async (log) => {
        await log.write('mira', { n: 5 });
        await log.checkpoint();
      });
      expect(await judged(changed, 0)).toEqual([...expected.map((_, n) => at === 4 && n < 3), false]);
      vi.useRealTimers();
    }
  });

  it('is not good in the name of a tenant that has no log', async () => {
    const events = await upgraded();
    await using(newer(events), (log) => log.checkpoint());
    const [first] = (await events.read(MIRA, { direction: 'forwards', limit: 1 })).events as [RecordedEvent];
    const clock = { now: () => new Date(Date.now() + 2 * DAY_MS) };
    const isFromBefore = createFromBefore({ events, seals, clock });
    const renamed = { ...first, meta: { ...first.meta, tenant: 'nobody' } };
    const [stranger] = forged([renamed], 0, () => ({ data: { n: 'forged' } })) as [RecordedEvent];
    expect(await isFromBefore(stranger)).toBe(false);
    expect(await isFromBefore({ ...stranger, stream: 'keys-studio' })).toBe(false);
  });
});
