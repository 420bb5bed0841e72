import { describe, expect, it } from 'vitest';

import { differenceKinds } from '../../../../src/features/replays/domain/difference-kinds.js';
import { noFindings, SAMPLES_OF_KIND } from '../../../../src/features/replays/domain/findings.js';
import { shownReplay } from '../../../../src/features/replays/http/shown-results.js';

describe('a replay as it is shown', () => {
  it('has at most 100 samples, by NPC and revision, and the first difference [10.3m]', () => {
    const samples = differenceKinds.flatMap((kind, at) =>
      Array.from({ length: SAMPLES_OF_KIND }, (_, n) => ({
        ...{ npcId: `npc-${String(n % 5)}`, turnId: 't', revision: 10 * n + at, kind, was: null, would: null },
      })),
    );
    expect(samples.length).toBeGreaterThan(100);
    const replay = {
      ...{ name: 'running', replayId: 'r1', startedAt: '2026-01-01T00:00:00.000Z', minds: 5, unknown: [] },
      ...{ events: 1, eventsInAll: 2, found: { ...noFindings, samples } },
    };
    const shown = shownReplay(replay as unknown as Parameters<typeof shownReplay>[0]);
    expect(shown.samples).toHaveLength(100);
    const places = shown.samples.map(({ npcId, revision }) => `${npcId} ${String(revision).padStart(4, '0')}`);
    expect(places).toEqual(places.toSorted());
    expect(shown).not.toHaveProperty('byLogic');
    expect(shown).toMatchObject({ firstDifference: { npcId: 'npc-0', revision: 0, kind: differenceKinds[0] } });
  });

  it('counts what the current logic changes, apart from the differences [10.3t]', () => {
    const places = [7, 3].map((revision) => ({ npcId: 'ada', turnId: 't', revision }));
    const samples = places.map((place) => ({ ...place, kind: 'otherAction' as const, was: 1, would: 2 }));
    const trial = {
      ...{ name: 'running', replayId: 'r1', startedAt: '2026-01-01T00:00:00.000Z', minds: 5, unknown: [] },
      ...{ ruleset: { rulesetId: 'inn', version: 1 }, events: 1, eventsInAll: 2 },
    };
    const of = (found: object) => shownReplay({ ...trial, found } as unknown as Parameters<typeof shownReplay>[0]);
    const shown = of({ ...noFindings, byLogic: { decisions: 9, samples } });
    expect(shown.byLogic).toEqual({ decisions: 9, samples: samples.toReversed() });
    expect(Object.values(shown.differences).every((number) => number === 0)).toBe(true);
    expect(shown).not.toHaveProperty('firstDifference');
    // As recorded by a version without them.
    expect(of(noFindings).byLogic).toEqual({ decisions: 0, samples: [] });
  });
});
