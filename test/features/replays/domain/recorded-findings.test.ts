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

  it('of another logic add up as well, and are absent if there are none [10.3t]', () => {
    const part = (npcId: string): ReplayFindings => ({
      ...noFindings,
      byLogic: { decisions: 15, samples: Array.from({ length: 15 }, (_, revision) => sample(npcId, revision)) },
    });
    const sum = addFindings(part('b'), part('a'));
    expect(sum).toEqual(addFindings(part('a'), part('b')));
    expect(sum.byLogic?.decisions).toBe(30);
    expect(sum.byLogic?.samples).toHaveLength(SAMPLES_OF_KIND);
    expect(sum.byLogic?.samples[0]).toMatchObject({ npcId: 'a', revision: 0 });
    expect(addFindings(noFindings, noFindings)).not.toHaveProperty('byLogic');
    expect(addFindings(noFindings, part('a'))).toEqual(part('a'));
    // Samples that would be dropped are not recorded.
    const known = addFindings(part('a'), part('b'));
    expect(recordedFindings(known, part('c')).byLogic).toEqual({ decisions: 15, samples: [] });
  });

  it('add up errors of rules from counts with and without them [10.3n]', () => {
    const [old, one] = [count('r1'), count('r1', { errors: 2 })];
    const of = (rule: RuleCount): ReplayFindings => ({ ...noFindings, rules: [rule] });
    expect(addFindings(of(old), of(one)).rules).toEqual([{ ...one, fired: 2 }]);
    expect(addFindings(of(old), of(old)).rules[0]).not.toHaveProperty('errors');
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
    const byLogic = { decisions: 100, samples: found.samples.slice(0, SAMPLES_OF_KIND) };
    const recorded = recordedFindings(noFindings, { ...found, byLogic });
    expect(jsonBytes(recorded as unknown as Json)).toBeLessThan(850_000);
    expect(recorded.byLogic?.decisions).toBe(100);
    expect(recorded.byLogic?.samples.length).toBeGreaterThan(SAMPLES_OF_KIND / 2);
    expect(recorded.samples.length).toBeGreaterThan(0);
    // The rules of a trial come first.
    expect(recorded.rules.filter(({ rulesetId }) => rulesetId === undefined)).toHaveLength(2_000);
  });
});
