import { describe, expect, it } from 'vitest';

import { differenceKinds } from '../../../../src/features/replays/domain/difference-kinds.js';
import {
  addFindings,
  noFindings,
  type ReplayFindings,
  type ReplaySample,
  type RuleCount,
  SAMPLES_OF_KIND,
} from '../../../../src/features/replays/domain/findings.js';
import { recordedFindings } from '../../../../src/features/replays/domain/recorded-findings.js';
import { type Json, jsonBytes } from '../../../../src/kernel/base/json.js';

const sample = (npcId: string, revision: number, of: Partial<ReplaySample> = {}): ReplaySample => ({
  ...{ npcId, turnId: 't', revision, kind: 'newlyRefused', was: null, would: null },
  ...of,
});
const count = (drRuleId: string, of: Partial<RuleCount> = {}): RuleCount => ({
  ...{ drRuleId, was: 0, fired: 1, decided: 0, shadowed: 0, samples: {} },
  ...of,
});
const withSamples = (...samples: readonly ReplaySample[]): ReplayFindings => ({ ...noFindings, samples });

describe('the recorded findings of a slice', () => {
  it('add up to the same in any order, with the first samples by NPC and revision [10.3m]', () => {
    const parts = Array.from({ length: 40 }, (_, index) =>
      withSamples(sample(`npc-${String((index * 7) % 10)}`, index)),
    );
    const forwards = parts.reduce(addFindings, noFindings);
    expect(parts.toReversed().reduce(addFindings, noFindings)).toEqual(forwards);
    expect(SAMPLES_OF_KIND).toBe(20);
    expect(forwards.samples).toHaveLength(SAMPLES_OF_KIND);
    expect(forwards.samples[0]).toMatchObject({ npcId: 'npc-0', revision: 0 });
  });

  it('exclude samples that would not be kept', () => {
    const known = withSamples(...Array.from({ length: SAMPLES_OF_KIND }, (_, index) => sample('b', index)));
    const later = sample('c', 0);
    const [earlier, other] = [sample('a', 0), sample('c', 0, { kind: 'otherState' })];
    const { samples } = recordedFindings(known, withSamples(later, earlier, other));
    expect(samples).toEqual([earlier, other]);
  });

  it('fit into one event, however many there are [10.3o]', () => {
    const long = '\u{1f409}'.repeat(128);
    const places = Array.from({ length: 5 }, (_, revision) => ({ npcId: long, turnId: long, revision }));
    const text = 'x'.repeat(2_046);
    const found: ReplayFindings = {
      ...noFindings,
      samples: differenceKinds.flatMap((kind) =>
        Array.from({ length: SAMPLES_OF_KIND }, (_, revision) =>
          sample(long, revision, { kind, turnId: long, was: text, would: text }),
        ),
      ),
      rules: Array.from({ length: 4_000 }, (_, index) =>
        count(`rule ${String(index)}`, {
          ...(index % 2 === 0 ? { rulesetId: long } : {}),
          samples: { fired: places, decided: places, shadowed: places },
        }),
      ),
    };
    const recorded = recordedFindings(noFindings, found);
    expect(jsonBytes(recorded as unknown as Json)).toBeLessThan(850_000);
    expect(recorded.samples.length).toBeGreaterThan(0);
    // The rules of a trial come first.
    expect(recorded.rules.filter(({ rulesetId }) => rulesetId === undefined)).toHaveLength(2_000);
  });
});
