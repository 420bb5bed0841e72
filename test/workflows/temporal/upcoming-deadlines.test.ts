import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { processKey } from '../../../src/ports/process-runtime.js';
import {
  dueBy,
  noDeadlines,
  forgetDeadline,
  addDeadline,
  type UpcomingDeadlines,
  nextDeadlineMs,
} from '../../../workflows/temporal/upcoming-deadlines.js';
import type { UpcomingDeadline } from '../../../workflows/temporal/process-batch.js';
import { DEADLINES_BYTES, DEADLINES_CACHED } from '../../../src/kernel/processes/process-limits.js';
import { payloadBytes } from '../../../src/kernel/processes/process-step.js';

const refOf = (id: string, length = 0) => ({ process: 'turn', id, stream: `npc-${id}${'x'.repeat(length)}` });
const keptOf = (id: string, dueMs: number, more: Partial<UpcomingDeadline> = {}): UpcomingDeadline => ({
  ref: refOf(id),
  state: 'open',
  dueMs,
  tries: 0,
  againMs: 0,
  ...more,
});
const keeping = (...processes: readonly UpcomingDeadline[]): UpcomingDeadlines => {
  const kept = noDeadlines();
  for (const process of processes) addDeadline(kept, process);
  return kept;
};
const idsOf = (kept: readonly UpcomingDeadline[]): readonly string[] => kept.map(({ ref }) => ref.id);

describe('the cached deadlines', () => {
  it('are bounded in number, with a horizon at the first one that did not fit', () => {
    const all = Array.from({ length: DEADLINES_CACHED + 3 }, (_, at) => keptOf(String(at), 1_000 + at));
    const kept = keeping(...all.toReversed());
    expect(kept.byKey.size).toBe(DEADLINES_CACHED);
    expect(kept.horizonMs).toBe(1_000 + DEADLINES_CACHED);
    addDeadline(kept, keptOf('beyond', kept.horizonMs));
    expect(kept.byKey.size).toBe(DEADLINES_CACHED);
    addDeadline(kept, keptOf('near', 1));
    expect(kept.byKey.size).toBe(DEADLINES_CACHED);
    expect(kept.horizonMs).toBe(1_000 + DEADLINES_CACHED - 1);
  });

  it('are ordered by the next try after a failure, so that failing ones leave room for due ones', () => {
    const failing = Array.from({ length: DEADLINES_CACHED }, (_, at) =>
      keptOf(`failing ${String(at)}`, at, { tries: 7, againMs: 60_000 + at }),
    );
    const kept = keeping(...failing);
    addDeadline(kept, keptOf('soon', 10_000));
    expect(idsOf(dueBy(kept, 10_000, 10))).toEqual(['soon']);
    expect(kept.horizonMs).toBe(60_000 + DEADLINES_CACHED - 1);
  });

  it('drop a process whose deadline moved beyond the horizon', () => {
    const kept = keeping(keptOf('one', 100), keptOf('two', 200));
    kept.horizonMs = 300;
    addDeadline(kept, keptOf('one', 400));
    expect([...kept.byKey.keys()]).toEqual([processKey(refOf('two'))]);
    expect(nextDeadlineMs(kept)).toBe(200);
  });

  it('count the processes in each state, without empty states', () => {
    const kept = keeping(keptOf('one', 1), keptOf('two', 2), keptOf('one', 1, { state: 'measured' }));
    expect(Object.fromEntries(kept.states)).toEqual({ open: 1, measured: 1 });
    forgetDeadline(kept, refOf('one'));
    forgetDeadline(kept, refOf('one'));
    forgetDeadline(kept, refOf('unknown'));
    expect(Object.fromEntries(kept.states)).toEqual({ open: 1 });
  });

  it('become due in order, a bounded number at a time, and not before their next try', () => {
    const kept = keeping(
      keptOf('third', 30),
      keptOf('first', 10),
      keptOf('later', 5, { tries: 1, againMs: 60 }),
      keptOf('second', 20),
      keptOf('not yet', 51),
    );
    expect(idsOf(dueBy(kept, 50, 9))).toEqual(['first', 'second', 'third']);
    expect(idsOf(dueBy(kept, 50, 2))).toEqual(['first', 'second']);
    expect(idsOf(dueBy(kept, 60, 9))).toEqual(['later', 'first', 'second', 'third', 'not yet']);
    expect(idsOf(dueBy(kept, 9, 9))).toEqual([]);
  });

  it('return the time of the next try, or never when empty', () => {
    expect(nextDeadlineMs(noDeadlines())).toBe(Infinity);
    expect(nextDeadlineMs(keeping(keptOf('a', 10, { againMs: 40 }), keptOf('b', 30)))).toBe(30);
    expect(nextDeadlineMs(keeping(keptOf('a', 10, { againMs: 40 })))).toBe(40);
  });

  const id = fc.integer({ min: 0, max: 60 }).map(String);
  const change = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        id,
        dueMs: fc.integer({ min: 0, max: 50 }),
        state: fc.constantFrom('open', 'awaitingActor', 'ended'),
      }),
    },
    { weight: 1, arbitrary: fc.record({ id, dueMs: fc.constant(null), state: fc.constant('ended') }) },
  );

  it('stay within their bounds, and are always the nearest of all, after any changes', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 200 }), fc.integer({ min: 0, max: 20_000 }), (changes, length) => {
        const kept = noDeadlines();
        const all = new Map<string, number>();
        for (const { id, dueMs, state } of changes) {
          const ref = refOf(id, length);
          if (dueMs === null) {
            all.delete(processKey(ref));
            forgetDeadline(kept, ref);
          } else {
            all.set(processKey(ref), dueMs);
            addDeadline(kept, keptOf(id, dueMs, { ref, state }));
          }
          const held = [...kept.byKey.values()];
          expect(held.length).toBeLessThanOrEqual(DEADLINES_CACHED);
          expect(kept.bytes).toBeLessThanOrEqual(DEADLINES_BYTES);
          expect(payloadBytes(held)).toBeLessThanOrEqual(kept.bytes + 2);
          for (const [key, due] of all) {
            const known = kept.byKey.get(key);
            if (known === undefined) expect(due).toBeGreaterThanOrEqual(kept.horizonMs);
            else expect(known.dueMs).toBe(due);
          }
          for (const [key, { dueMs: due }] of kept.byKey) {
            expect(all.has(key)).toBe(true);
            expect(due).toBeLessThanOrEqual(kept.horizonMs);
          }
          expect([...kept.states.values()].reduce((sum, count) => sum + count, 0)).toBe(held.length);
        }
      }),
      { numRuns: 60 },
    );
  });
});
