import { describe, expect, it } from 'vitest';

import { type Access, startAccessRecorder } from '../../../src/features/keys/record-access.js';
import { accessStream } from '../../../src/kernel/base/stream-names.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import { rememberingLog } from '../../support/http.js';
import { ManualClock } from '../../support/manual-clock.js';
import { MemoryEventStore } from '../../support/memory/event-store.js';
import { seededRandom } from '../../support/seeded-random.js';

const access = (over: Partial<Access> = {}): Access => ({
  ...{ tenant: 'local', keyId: 'k1', operation: 'history', npcId: 'mira' },
  ...over,
});

describe('the record of accesses', () => {
  const opened = (events = new MemoryEventStore(), { most = 1_000, seed = 'one' } = {}) => {
    const clock = new ManualClock();
    const log = rememberingLog();
    let dropped = 0;
    const metrics = { count: () => void (dropped += 1) };
    const writers = new StreamWriters(events, clock, { shared: true });
    const deps = { clock, log, metrics, events, writers, most, random: seededRandom(seed) };
    return { clock, log, events, recorder: startAccessRecorder(deps), dropped: () => dropped };
  };
  const recordedIn = async (events: MemoryEventStore, tenant = 'local') =>
    (await events.read(accessStream(tenant), { direction: 'forwards', limit: 500 })).events.map(({ data }) => data);
  /** Until a minute is over, and what happens then is done. */
  const aMinute = async (clock: ManualClock): Promise<void> => {
    await clock.advance(61_000);
    for (let turns = 0; turns < 20; turns += 1) await new Promise(setImmediate);
  };

  it('has one event for each key, operation, mind and minute, by tenant [11.13a]', async () => {
    const { clock, events, recorder } = opened();
    for (let times = 0; times < 3; times += 1) recorder.note(access());
    recorder.note(access({ npcId: 'odo' }));
    recorder.note(access({ operation: 'issueKey', npcId: null }));
    recorder.note(access({ tenant: 'other' }));
    expect(await recordedIn(events)).toEqual([]);
    await aMinute(clock);
    recorder.note(access());
    await recorder[Symbol.asyncDispose]();
    const found = await recordedIn(events);
    expect(found.map(({ operation, npcId, count }) => [operation, npcId, count])).toEqual([
      ...[
        ['history', 'mira', 3],
        ['history', 'odo', 1],
        ['issueKey', null, 1],
      ],
      ['history', 'mira', 1],
    ]);
    expect(new Set(found.map(({ minute }) => minute)).size).toBe(2);
    expect(await recordedIn(events, 'other')).toHaveLength(1);
  });

  it('is written by several processes at a time [11.13b]', async () => {
    const events = new MemoryEventStore();
    const all = ['a', 'b', 'c'].map((seed) => opened(events, { seed }));
    for (const { recorder } of all)
      for (let npc = 0; npc < 250; npc += 1) recorder.note(access({ npcId: String(npc) }));
    await Promise.all(all.map(({ recorder }) => recorder[Symbol.asyncDispose]()));
    const { lastRevision } = await events.read(accessStream('local'), { direction: 'backwards', limit: 1 });
    expect(lastRevision).toBe(3 * 250 - 1);
  });

  it('is bounded, and says what it dropped [11.13c]', async () => {
    const { log, events, recorder, dropped } = opened(new MemoryEventStore(), { most: 4 });
    for (const npcId of ['a', 'b', 'c', 'd', 'a']) recorder.note(access({ npcId }));
    expect(dropped()).toBe(2);
    await recorder[Symbol.asyncDispose]();
    expect((await recordedIn(events)).map(({ count }) => count)).toEqual([2, 1]);
    expect(log.lines).toEqual([expect.objectContaining({ level: 'warn', fields: { tenant: 'local', dropped: 2 } })]);
  });

  it('has room for every tenant, however much one asks [11.13c]', async () => {
    const { log, events, recorder } = opened(new MemoryEventStore(), { most: 100 });
    for (let npc = 0; npc < 1_000; npc += 1) recorder.note(access({ tenant: 'loud', npcId: String(npc) }));
    for (let npc = 0; npc < 20; npc += 1) recorder.note(access({ npcId: String(npc) }));
    await recorder[Symbol.asyncDispose]();
    expect([await recordedIn(events, 'loud'), await recordedIn(events)].map(({ length }) => length)).toEqual([50, 20]);
    expect(log.lines).toEqual([expect.objectContaining({ fields: { tenant: 'loud', dropped: 950 } })]);
  });

  it('waits while the store is away, and records once what may have been written', async () => {
    const events = new MemoryEventStore();
    const append = events.append.bind(events);
    let failures = 2;
    events.append = async (...call) => {
      failures -= 1;
      // The first is written, but its answer is lost.
      if (failures === 1) await append(...call);
      if (failures >= 0) throw new Rejection('STORE_UNAVAILABLE', { retryAfter: 1 });
      return append(...call);
    };
    const { clock, log, recorder } = opened(events);
    recorder.note(access());
    await aMinute(clock);
    expect(log.lines).toHaveLength(1);
    recorder.note(access({ npcId: 'odo' }));
    await aMinute(clock);
    await aMinute(clock);
    await recorder[Symbol.asyncDispose]();
    expect((await recordedIn(events)).map(({ npcId }) => npcId)).toEqual(['mira', 'odo']);
  });
});
