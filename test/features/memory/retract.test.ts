import type { EventDraft } from '../../../src/kernel/base/event-draft.js';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { nativeSearch } from '../../../src/adapters/vectors/usearch.js';
import { confirm } from '../../../src/features/memory/confirm.js';
import { createRecall } from '../../../src/features/memory/recall.js';
import { retract, RETRACTED_MEMORIES } from '../../../src/features/memory/retract.js';
import { visibleMemories, visibleRange } from '../../../src/features/memory/visible-range.js';
import { mindFold } from '../../../src/features/npcs/mind-fold.js';
import { applyEvents } from '../../../src/kernel/read-models/apply-events.js';
import { feedOf } from '../../../src/kernel/read-models/feed.js';
import { soulMemories } from '../../../src/features/souls/soul-memories.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import { runCommand } from '../../../src/kernel/streams/run-command.js';
import { LINEAGE_STEPS } from '../../../src/features/memory/domain/lineage.js';
import { clearMemories } from '../../../src/features/memory/domain/decide.js';
import { memories } from '../../../projections/memories.js';
import type { EventStore, RecordedEvent } from '../../../src/ports/event-store.js';
import { appendNext } from '../../support/append-next.js';
import { draftOf, memoriesRecalled, memoryStored, recorded, verdict } from '../../support/histories.js';
import { ManualClock } from '../../support/manual-clock.js';
import { NumberEmbedder, STREAM, TENANT } from '../../support/recall-scene.js';
import { checksOf } from '../../support/seals.js';
import { storeWith } from '../../support/streams.js';
import { MemoryReadModels } from '../../support/memory/read-models.js';

const WITHIN_MS = 3_600_000;

/** A mind, with a read model that follows it after each command. */
const openMind = async () => {
  const clock = new ManualClock();
  const events = new MemoryEventStore();
  const readModels = new MemoryReadModels(clock);
  const writers = new StreamWriters(events, clock);
  const embedder = new NumberEmbedder();
  const turnIndex = { note: () => undefined };
  const deps = {
    events,
    readModels,
    rowSearch: readModels,
    writers,
    clock,
    embedder,
    vectorSearch: nativeSearch,
    turnIndex,
  };
  const recall = createRecall(deps, 1024 * 1024);
  const feed = feedOf(memories, await readModels.open(memories));
  let [applied, commands] = [0, 0];
  const follow = async (): Promise<void> => {
    const page = await events.read(STREAM, { direction: 'forwards', from: applied, limit: 500 });
    if (page.events.length > 0) await applyEvents(readModels, feed, page.events, '2026-01-01T00:00:00.000Z');
    applied += page.events.length;
  };
  const by = () => {
    const commandId = `c${String((commands += 1))}`;
    return { tenant: TENANT, actor: 'key-1', commandId, correlationId: commandId, causationId: null };
  };
  const visible = async (asOf?: number): Promise<readonly string[]> => {
    const range = await visibleRange(deps, STREAM, asOf === undefined ? 'now' : { revision: asOf }, applied - 1);
    const found: string[] = [];
    if (range === null) return found;
    for await (const rows of visibleMemories(readModels, STREAM, range, { direction: 'ascending', limit: 3 }))
      found.push(...rows.map(({ memoryId }) => memoryId));
    return found;
  };
  return {
    ...{ deps, visible, follow },
    last: () => applied - 1,
    confirm: async (text: string) => {
      const { stored, retracted } = await confirm(
        deps,
        STREAM,
        { text, type: 'observation', importance: 0.5, withinMs: WITHIN_MS },
        by(),
      );
      await follow();
      return { memoryId: stored.data['memoryId'] as string, retracted };
    },
    retract: async (memoryIds: readonly string[], more: { derived?: boolean; dryRun?: boolean } = {}) => {
      const asked = { memoryIds, reason: 'A lie.', derived: false, dryRun: false, ...more };
      const { retracted } = await retract(deps, STREAM, asked, by());
      await follow();
      return retracted.map(({ memoryId }) => memoryId);
    },
    clear: async (): Promise<number> => {
      const { events: made } = await runCommand(deps, STREAM, mindFold, by(), clearMemories);
      await follow();
      return (made[0]?.data['count'] ?? 0) as number;
    },
    record: async (...told: readonly EventDraft[]): Promise<void> => {
      await appendNext(events, STREAM, recorded(STREAM, told, applied));
      await follow();
    },
    recalled: async (asOf?: number): Promise<readonly string[]> => {
      const asked = { tenant: TENANT, npcId: 'mira', query: '1 1', limit: 100, minScore: 0 };
      const found = await recall({ ...asked, ...(asOf === undefined ? {} : { asOf }) });
      return found.memories.map(({ row }) => row.memoryId).toSorted();
    },
    soul: async (): Promise<readonly string[]> => {
      const found = await soulMemories(
        { events, checks: checksOf(events, () => Promise.resolve(true)) },
        STREAM,
        applied - 1,
        new AbortController().signal,
      );
      return found.map(({ id }) => id);
    },
  };
};

describe('retracted memories', () => {
  const step = fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        do: fc.constant('confirm' as const),
        text: fc.constantFrom('1 0', '0 1', '2 1', '3 1', '1 4'),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('retract' as const),
        picks: fc.array(fc.nat(40), { minLength: 1, maxLength: 3 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('clear' as const) }) },
  );

  it('comes after the others of its mind, so that none is planned twice', async () => {
    const mind = await openMind();
    const ids: string[] = [];
    for (let n = 0; n < 16; n += 1) ids.push((await mind.confirm(`lie ${String(n)}`)).memoryId);
    const plans = vi.spyOn(mind.deps.readModels, 'getAll');
    const gone = await Promise.all(ids.map((memoryId) => mind.retract([memoryId])));
    expect(gone).toEqual(ids.map((memoryId) => [memoryId]));
    expect(plans).toHaveBeenCalledTimes(ids.length);
  });

  it('leave lists, recall, confirmations and souls, while earlier moments stay unchanged [10.12f, 10.12h, 10.12i]', async () => {
    type Known = { readonly id: string; readonly text: string; gone: boolean; cleared: boolean };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 24 }), async (steps) => {
        const mind = await openMind();
        const model: Known[] = [];
        const standing = (): readonly string[] => model.filter((one) => !one.gone && !one.cleared).map(({ id }) => id);
        const past = new Map<number, readonly string[]>();
        for (const one of steps) {
          if (one.do === 'confirm') {
            const { memoryId, retracted } = await mind.confirm(one.text);
            const same = model.filter(({ text, cleared }) => text === one.text && !cleared);
            expect(retracted).toBe(same.length > 0 && same.every(({ gone }) => gone));
            if (same.length === 0) model.push({ id: memoryId, text: one.text, gone: false, cleared: false });
            else expect(same.map(({ id }) => id)).toContain(memoryId);
          } else if (one.do === 'clear') {
            // With nothing left to clear, nothing is recorded.
            const left = standing().length;
            expect(await mind.clear()).toBe(left);
            if (left > 0) for (const known of model) known.cleared = true;
          } else if (model.length > 0) {
            const picked = one.picks.map((at) => model[at % model.length] as Known);
            const going = new Set(picked.filter(({ gone, cleared }) => !gone && !cleared).map(({ id }) => id));
            const named = picked.map(({ id }) => id);
            expect(new Set(await mind.retract(named, { dryRun: true }))).toEqual(going);
            expect(new Set(await mind.retract(named))).toEqual(going);
            expect(await mind.retract(named)).toEqual([]);
            for (const known of model) if (going.has(known.id)) known.gone = true;
          }
          expect(await mind.visible()).toEqual(standing());
          past.set(mind.last(), standing());
        }
        expect(await mind.soul()).toEqual(standing());
        expect(await mind.recalled()).toEqual([...standing()].toSorted());
        for (const [revision, then] of past) {
          if (revision < 0) continue;
          expect(await mind.visible(revision)).toEqual(then);
          expect(await mind.recalled(revision)).toEqual([...then].toSorted());
        }
      }),
      { numRuns: 60 },
    );
  });

  it('include a bounded number of derived memories; a refusal names the number [10.12m]', async () => {
    const mind = await openMind();
    const [first] = [memoryStored('m1', 'A lie.')];
    const recall = memoriesRecalled('t1');
    const named = [{ text: 'A lie.', type: 'observation', importance: 1, similarity: 1 }];
    const told = Array.from({ length: RETRACTED_MEMORIES }, (_, n) => memoryStored(`t1-${String(n)}`, 'So.', 't1'));
    await mind.record(first, { ...recall, data: { ...recall.data, memories: named } }, verdict('t1', true), ...told);
    expect(RETRACTED_MEMORIES).toBe(256);
    await expect(mind.retract(['m1'], { derived: true })).rejects.toMatchObject({
      code: 'RETRACTION_TOO_LARGE',
      details: { memories: RETRACTED_MEMORIES + 1, memoriesLimit: RETRACTED_MEMORIES, atLeast: false },
    });
    expect((await mind.visible()).length).toBe(RETRACTED_MEMORIES + 1);
    expect(await mind.retract(['t1-0'])).toEqual(['t1-0']);
    expect(await mind.retract(['m1'], { derived: true })).toHaveLength(RETRACTED_MEMORIES);
  });

  it('are not retracted with derived ones if their lineage is truncated [10.12m]', async () => {
    const steps = LINEAGE_STEPS + 1;
    const mind = await openMind();
    await mind.record(memoryStored('m0', 'lie 0'));
    for (let n = 1; n <= steps; n += 1) {
      const turnId = `t${String(n)}`;
      const recall = memoriesRecalled(turnId);
      const memories = [{ text: `lie ${String(n - 1)}`, type: 'observation', importance: 1, similarity: 1 }];
      const stored = memoryStored(`m${String(n)}`, `lie ${String(n)}`, turnId);
      await mind.record({ ...recall, data: { ...recall.data, memories } }, verdict(turnId, true), stored);
    }
    await expect(mind.retract(['m0'], { derived: true })).rejects.toMatchObject({
      code: 'RETRACTION_TOO_LARGE',
      details: { memories: steps, memoriesLimit: RETRACTED_MEMORIES, atLeast: true },
    });
    expect((await mind.visible()).length).toBe(steps + 1);
    expect(await mind.retract(['m1'], { derived: true })).toHaveLength(steps);
  });

  it.each([
    [200_000, 'retracted', ['m1']],
    [200_001, 'refused', null],
  ] as const)('with %i events after them are %s with derived ones [10.12m]', async (events, _, gone) => {
    const mind = await openMind();
    await mind.record(memoryStored('m1', 'A lie.'));
    const [one] = recorded(STREAM, [{ type: 'NpcUpdated', data: { persona: 'Calm.' } }], 1);
    /** As many events as asked, all alike: the search for derived memories is the only reader of them. */
    const read: EventStore['read'] = (_stream, { from = 0, limit }) =>
      Promise.resolve({
        lastRevision: events,
        events: Array.from({ length: Math.min(limit, events + 1 - from) }, (__, at) => ({
          ...(one as RecordedEvent),
          revision: from + at,
        })),
      });
    const asked = { memoryIds: ['m1'], reason: 'A lie.', derived: true, dryRun: true };
    const by = { tenant: TENANT, actor: 'key-1', commandId: 'c', correlationId: 'c', causationId: null };
    const answer = retract({ ...mind.deps, events: storeWith(mind.deps.events, { read }) }, STREAM, asked, by);
    if (gone !== null) expect((await answer).retracted.map(({ memoryId }) => memoryId)).toEqual(gone);
    else
      await expect(answer).rejects.toMatchObject({
        code: 'RETRACTION_TOO_LARGE',
        details: { memories: 1, memoriesLimit: RETRACTED_MEMORIES, atLeast: true },
      });
  });

  it('are unknown if the id belongs to nothing, or to a clear [10.12l]', async () => {
    const mind = await openMind();
    await mind.record(memoryStored('m1'), draftOf({ type: 'MemoriesCleared', data: { count: 1 } }));
    await expect(mind.retract(['m1', 'clear 1', 'm2'])).rejects.toMatchObject({
      code: 'MEMORY_NOT_FOUND',
      details: { memoryIds: ['clear 1', 'm2'] },
    });
    expect(await mind.retract(['m1'])).toEqual([]);
  });
});
