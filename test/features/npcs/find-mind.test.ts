import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import { mindAsOf, requireMind, requireRevision, revisionOf } from '../../../src/features/npcs/find-mind.js';
import { npcStream } from '../../../src/kernel/base/stream-names.js';
import type { EventStore, ReadRange } from '../../../src/ports/event-store.js';
import type { Moment } from '../../../src/ports/snapshots.js';
import { event } from '../../support/events.js';
import { ManualClock } from '../../support/manual-clock.js';
import { storeWith } from '../../support/streams.js';

const stream = npcStream('studio', 'mira');
const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();

/** A mind whose persona was changed at the given seconds. */
const mindOf = async (...seconds: number[]): Promise<MemoryEventStore> => {
  const store = new MemoryEventStore();
  const change = (persona: string, second: number) =>
    event(`${persona}-${second}`, { type: 'NpcUpdated', data: { persona }, meta: { at: at(second) } });
  for (const [n, second] of seconds.entries()) {
    await store.append(stream, n === 0 ? 'no_stream' : n - 1, [change(`p${n}`, second)]);
  }
  return store;
};

const asOf = (store: EventStore, tenant: string, npcId: string, moment: Moment) =>
  mindAsOf(new StreamWriters(store, new ManualClock()), tenant, npcId, moment);

describe('a mind as of a moment', () => {
  it.each<[title: string, moment: Moment, persona: string | null]>([
    ['a revision, included', { revision: 1 }, 'p1'],
    ['the first revision', { revision: 0 }, 'p0'],
    ['a revision beyond the last', { revision: 99 }, 'p3'],
    ['the exact time of an event', { timeMs: Date.parse(at(10)) }, 'p0'],
    ['a time between two events', { timeMs: Date.parse(at(15)) }, 'p0'],
    ['the time of several events', { timeMs: Date.parse(at(20)) }, 'p2'],
    ['a time after the last', { timeMs: Date.parse(at(59)) }, 'p3'],
    ['a time before the first', { timeMs: Date.parse(at(10)) - 1 }, null],
  ])('is as its events left it at %s', async (_, moment, persona) => {
    const store = await mindOf(10, 20, 20, 30);
    expect((await asOf(store, 'studio', 'mira', moment))?.persona ?? null).toBe(persona);
  });

  it('is folded over any number of pages', async () => {
    const store = await mindOf(...Array.from({ length: 1_100 }, () => 1));
    expect((await asOf(store, 'studio', 'mira', { revision: 1_030 }))?.persona).toBe('p1030');
    expect((await asOf(store, 'studio', 'mira', { revision: 5_000 }))?.revision).toBe(1_099);
  });

  it('is null for an unknown mind', async () => {
    expect(await asOf(await mindOf(1), 'other', 'mira', { revision: 0 })).toBeNull();
  });
});

describe('the current mind', () => {
  it('includes the events of another server [1.8b]', async () => {
    const store = await mindOf(1);
    const writers = new StreamWriters(store, new ManualClock(), { shared: true });
    expect(await requireMind(writers, 'studio', 'mira')).toMatchObject({ persona: 'p0', revision: 0 });
    await store.append(stream, 0, [event('x', { type: 'NpcUpdated', data: { persona: 'theirs' } })]);
    expect(await requireMind(writers, 'studio', 'mira')).toMatchObject({ persona: 'theirs', revision: 1 });
  });

  it('is refused when it is unknown', async () => {
    const writers = new StreamWriters(await mindOf(1), new ManualClock());
    await expect(requireMind(writers, 'other', 'mira')).rejects.toMatchObject({
      code: 'NPC_NOT_FOUND',
      details: { npcId: 'mira' },
    });
    expect((await requireMind(writers, 'studio', 'mira')).persona).toBe('p0');
  });
});

describe('the existence of a mind', () => {
  it('is decided by its last event alone', async () => {
    const store = await mindOf(1, 2, 3);
    const ranges: ReadRange[] = [];
    const read: EventStore['read'] = (name, range) => {
      ranges.push(range);
      return store.read(name, range);
    };
    const counted = storeWith(store, { read });
    expect(await revisionOf(counted, 'studio', 'mira')).toBe(2);
    expect(await requireRevision(counted, 'studio', 'mira')).toBe(2);
    expect(await revisionOf(counted, 'other', 'mira')).toBe(-1);
    await expect(requireRevision(counted, 'other', 'mira')).rejects.toMatchObject({ code: 'NPC_NOT_FOUND' });
    expect(ranges).toEqual(Array(4).fill({ direction: 'backwards', limit: 1 }));
  });
});
