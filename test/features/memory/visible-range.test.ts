import type { EventDraft } from '../../../src/kernel/base/event-draft.js';
import { describe, expect, it } from 'vitest';

import { memories } from '../../../projections/memories.js';
import { revisionOrder } from '../../../src/kernel/read-models/row-order.js';
import { MemoryEventStore } from '../../support/memory/event-store.js';
import { visibleRange } from '../../../src/features/memory/visible-range.js';
import { READ_WAIT_MS } from '../../../src/ports/read-models.js';
import { applyEvents } from '../../../src/kernel/read-models/apply-events.js';
import { feedOf } from '../../../src/kernel/read-models/feed.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import { draftOf, memoryStored, recorded } from '../../support/histories.js';
import { ManualClock } from '../../support/manual-clock.js';
import { settle } from '../../support/settle.js';
import { STREAM } from '../../support/streams.js';
import { MemoryReadModels } from '../../support/memory/read-models.js';

const cleared = draftOf({ type: 'MemoriesCleared', data: { count: 1 } });
const archived = draftOf({ type: 'NpcArchived', data: {} });

/** The reader of the memories of a mind with these events; its read model has those up to revision `through`. */
const visible = async (told: readonly EventDraft[], through = Infinity, clock = new ManualClock()) => {
  const store = new MemoryEventStore();
  const readModels = new MemoryReadModels(clock);
  const events = recorded(STREAM, told);
  if (events.length > 0) await store.append(STREAM, 'no_stream', events);
  const feed = feedOf(memories, await readModels.open(memories));
  const known = events.filter(({ revision }) => revision <= through);
  if (known.length > 0) await applyEvents(readModels, feed, known, '2026-01-01T00:00:00.000Z');
  const deps = { writers: new StreamWriters(store, clock), readModels };
  return (moment: Parameters<typeof visibleRange>[2]) =>
    visibleRange(deps, STREAM, moment, Math.min(through, events.length - 1));
};

describe('the visible memories of a mind', () => {
  it('are all memories while nothing was cleared', async () => {
    const range = await visible([memoryStored('m1'), memoryStored('m2')]);
    expect(await range('now')).toEqual({});
    expect(await range({ revision: 0 })).toEqual({ upTo: revisionOrder(0), asOf: 0 });
  });

  it('begin after the last clear as of the given moment', async () => {
    const range = await visible([memoryStored('m1'), cleared, memoryStored('m2'), cleared, memoryStored('m3')]);
    expect(await range('now')).toEqual({ above: revisionOrder(3) });
    expect(await range({ revision: 3 })).toEqual({ above: revisionOrder(3), upTo: revisionOrder(3), asOf: 3 });
    expect(await range({ revision: 2 })).toEqual({ above: revisionOrder(1), upTo: revisionOrder(2), asOf: 2 });
    expect(await range({ revision: 0 })).toEqual({ upTo: revisionOrder(0), asOf: 0 });
  });

  it('are at an instant those after the last event until then', async () => {
    const range = await visible([memoryStored('m1'), cleared, memoryStored('m2')]);
    const at = (second: number) => ({ timeMs: Date.parse('2026-01-01T00:00:00.000Z') + second * 1_000 });
    expect(await range(at(0.5))).toEqual({ upTo: revisionOrder(0), asOf: 0 });
    expect(await range(at(99))).toEqual({ above: revisionOrder(1), upTo: revisionOrder(2), asOf: 2 });
    expect(await range(at(-1))).toBeNull();
  });

  it('end immediately with a clear, even if the read model has not caught up', async () => {
    const range = await visible([memoryStored('m1'), cleared], 0);
    expect(await range('now')).toEqual({ above: revisionOrder(1) });
  });

  const retracted = draftOf({ type: 'MemoriesRetracted', data: { memoryIds: ['m1'], reason: 'A lie.' } });

  it('include whether a row may have been retracted by then or later', async () => {
    const range = await visible([memoryStored('m1'), retracted, memoryStored('m2')]);
    expect(await range('now')).toEqual({ someRetracted: true });
    expect(await range({ revision: 0 })).toEqual({ upTo: revisionOrder(0), asOf: 0, someRetracted: true });
  });

  it('are unavailable from a read model that has not reached a retraction', async () => {
    const clock = new ManualClock();
    const range = await visible([memoryStored('m1'), retracted], 0, clock);
    const late = expect(range('now')).rejects.toMatchObject({ code: 'READ_MODEL_BEHIND' });
    await settle();
    await clock.advance(READ_WAIT_MS);
    await late;
    expect(await range({ revision: 0 })).toMatchObject({ asOf: 0 });
  });

  it('are none for an archived mind until it is revived, except as of an earlier moment', async () => {
    const gone = await visible([memoryStored('m1'), archived]);
    expect(await gone('now')).toBeNull();
    expect(await gone({ revision: 1 })).toEqual({ upTo: revisionOrder(1), asOf: 1 });
    const revived = await visible([memoryStored('m1'), archived, memoryStored('m2')]);
    expect(await revived('now')).toEqual({});
  });

  it('include the memories of a soul completely or not at all', async () => {
    const begun = draftOf({ type: 'SoulArrivalBegun', data: { soulId: 's1', importId: 'i1', memories: 1 } });
    const brought = draftOf({
      type: 'MemoryArrived',
      data: {
        ...{ memoryId: 'm1', text: 'It snowed.', type: 'observation', importance: 1, confirmed: false },
        storedAt: '2025-12-01T00:00:00.000Z',
        source: { soulId: 's1', turnId: null, eventId: 'e1', revision: 0 },
      },
    });
    const arrived = draftOf({
      type: 'SoulArrived',
      data: {
        ...{ soulId: 's1', importId: 'i1', digest: 'd', copy: false, signer: 'known', name: 'Mira', ruleset: null },
        chain: [],
      },
    });
    expect(await (await visible([begun, brought]))('now')).toBeNull();
    expect(await (await visible([begun, brought]))({ revision: 1 })).toBeNull();
    expect(await (await visible([begun, brought, arrived], 1))('now')).toBeNull();
    const whole = await visible([begun, brought, arrived]);
    expect(await whole('now')).toEqual({});
    expect(await whole({ revision: 1 })).toBeNull();
    expect(await whole({ revision: 2 })).toEqual({ upTo: revisionOrder(2), asOf: 2 });
  });

  it('are none for an unknown mind', async () => {
    expect(await (await visible([]))('now')).toBeNull();
  });
});
