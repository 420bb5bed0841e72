import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { RuleFinding } from '../../../../../src/features/rules/domain/analysis/findings.js';
import { judgeRules } from '../../../../../src/features/rules/domain/analysis/judge-rules.js';
import type { Action } from '../../../../../src/features/rules/domain/bridge/action.js';
import { brokenBy, forbiddenBy } from '../../../../../src/features/rules/domain/bridge/refusal.js';
import { matchRules } from '../../../../../src/features/rules/domain/match.js';
import type { RuleFacts } from '../../../../../src/features/rules/domain/matched.js';
import type { DirectiveRule, DirectiveRuleSet } from '../../../../../src/features/rules/domain/ruleset.js';
import type { Json, JsonObject } from '../../../../../src/kernel/base/json.js';
import { drained } from '../../../../../src/kernel/base/sliced.js';
import { runs } from '../../../../support/long.js';
import { aRuleset } from '../../../../support/rules.js';
import { conditionTexts } from '../../../../support/condition-texts.js';

const BIG = '9007199254740993';
const scalar = fc.constantFrom<Json>(
  ...[0, 1, 1.5, 2, 3, '1', '2', '2.0', '1.50', 'a', 'b', 'c', '', true, 'true', false, null, {}, [], { id: 1 }],
  ...[2 ** 53, -(2 ** 60), BIG, '9007199254740992'],
);
const list = fc.array(fc.oneof(scalar, fc.array(scalar, { maxLength: 2 })), { maxLength: 4 });
/** Lists of which not everything is looked at. */
const longList = fc.tuple(scalar, scalar).map(([one, other]): Json => [...Array<Json>(1_000).fill(one), other]);
const thing = fc.record({ id: scalar, qty: fc.oneof(scalar, list) }, { requiredKeys: [] });
const state: fc.Arbitrary<JsonObject> = fc.record(
  {
    k: fc.oneof({ weight: 30, arbitrary: fc.oneof(scalar, list) }, { weight: 1, arbitrary: longList }),
    n: fc.oneof(scalar, list),
    bag: fc.oneof(thing, fc.array(fc.oneof(thing, scalar), { maxLength: 3 })),
  },
  { requiredKeys: [] },
);
const action: fc.Arbitrary<Action & JsonObject> = fc.record(
  {
    type: fc.constantFrom('SELL', 'GIVE', 'SPEAK', '1'),
    target: fc.constantFrom('', 'orc', 'Orc', 'elf', '1'),
    confidence: fc.constantFrom(0, 1, 1.5, 2 ** 60),
    payload: fc.record({ price: fc.oneof(scalar, list) }, { requiredKeys: [] }),
  },
  { requiredKeys: ['type'] },
);

const KEYS = {
  anything: ['k', 'k', 'k', 'n', 'bag.id', 'bag[x].id', 'bag[x].qty', 'bag[y].id', 'bag', 'action.payload.price'],
  ofActions: ['action.type', 'action.target', 'action.confidence'],
};
const plain = fc.constantFrom('1', '2', '1.5', 'a', 'b', 'true', '"2"', '"a"', BIG);
const element = fc.oneof(
  plain,
  fc.constantFrom('*', '<2', '<=2', '>1', '>=3', '1..2', '1.2..3', '<"b"', '>="2"', '>0.5', `<${BIG}`),
);
const { elements, bracketed, value } = conditionTexts(plain, element);
/** Conditions without brackets on one key, which often hold only for lists. */
const clash = fc.array(fc.tuple(fc.constant('n'), element), { minLength: 2, maxLength: 2 });
const types = fc.constantFrom('SELL', 'GIVE', '*', 'SELL, GIVE', 'SPEAK');
const conditions = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.tuple(fc.constantFrom(...KEYS.anything), value) },
    { weight: 9, arbitrary: fc.tuple(fc.constant('k'), element) },
    {
      weight: 1,
      arbitrary: fc.tuple(
        fc.constantFrom(...KEYS.ofActions),
        fc.constantFrom('SELL', '!=SELL', '!', '*', '1', '1|GIVE'),
      ),
    },
    { weight: 1, arbitrary: fc.tuple(fc.constant('action.confidence'), elements) },
  ),
  { maxLength: 2 },
);
const rule: fc.Arbitrary<Partial<DirectiveRule>> = fc.record({
  ruleCondition: fc.oneof({ weight: 6, arbitrary: conditions }, { weight: 1, arbitrary: clash }),
  ruleAction: fc.oneof(
    fc.tuple(fc.constantFrom('FORBID', 'ALLOW'), types).map((words) => words.join(' ')),
    fc.constantFrom('REQUIRE SELL', 'REQUIRE GIVE', 'REQUIRE SELL, SPEAK', 'be kind'),
  ),
  ruleTarget: fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.constant('orc') }),
  rulePriority: fc.nat(2),
});

/** Enough situations that a wrong finding meets one that shows it. */
const worlds: readonly RuleFacts[] = fc.sample(
  fc.record({ npcState: state, action }).map((world) => ({ ...world, context: {}, patternsHeld: [] })),
  { numRuns: runs(150, 500), seed: 31 },
);

type Seen = { readonly matched: (drRuleId: string) => boolean; readonly certain: (drRuleId: string) => boolean };
const lookAt = (
  set: DirectiveRuleSet,
  world: RuleFacts,
): Seen & { readonly matches: ReturnType<typeof matchRules>['matches'] } => {
  const { trace, matches } = matchRules(set, world);
  const of = (drRuleId: string) => trace.rules.find((one) => one.drRuleId === drRuleId);
  return {
    matches,
    matched: (drRuleId) => of(drRuleId)?.matched === true,
    certain: (drRuleId) => of(drRuleId)?.conditions?.every(({ holds }) => holds) ?? true,
  };
};

/** What a world says against a finding. */
const disproof = (set: DirectiveRuleSet, finding: RuleFinding, world: RuleFacts): string | null => {
  const { matched, certain, matches } = lookAt(set, world);
  const [low = '', high = ''] = finding.drRuleIds;
  if (!matched(low)) return null;
  if (finding.kind === 'never_matches')
    return certain(low) || finding.message.endsWith('never match.') ? 'it matches' : null;
  if (finding.kind === 'needs_list') return certain(low) && !JSON.stringify(world).includes('[') ? 'no list' : null;
  if (finding.message.includes('at the same time')) return null;
  if (!matched(high)) return 'the other one does not match';
  if (finding.kind !== 'shadowed') return null;
  const without = matches.filter((match) => match.rule.drRuleId !== low);
  const wanted = world.action as Action;
  const others = set.rulesetRules.find((one) => one.drRuleId === high)?.ruleAction.startsWith('REQUIRE') ?? false;
  const answers = [matches, without].map((all) => [
    brokenBy(all, wanted)?.rule.drRuleId,
    // Where a rule that requires an action refuses nothing, only rules that name the action decide.
    others ? null : forbiddenBy(all, wanted)?.rule.drRuleId,
  ]);
  return JSON.stringify(answers[0]) === JSON.stringify(answers[1]) ? null : 'it decides';
};

/** Fails if some situation contradicts a finding. @returns how many findings of each kind there were */
const tryFindings = (sets: fc.Arbitrary<readonly Partial<DirectiveRule>[]>, numRuns: number) => {
  const found = new Map<string, number>();
  fc.assert(
    fc.property(sets, (rules) => {
      const set: DirectiveRuleSet = { ...aRuleset(rules), grammar: 2 };
      const { findings, judged, notJudged } = drained(judgeRules(set));
      expect([judged, notJudged]).toEqual([rules.length, []]);
      for (const finding of findings) {
        found.set(finding.kind, (found.get(finding.kind) ?? 0) + 1);
        const against = worlds.find((world) => disproof(set, finding, world) !== null);
        if (against !== undefined) expect({ rules, finding, against: disproof(set, finding, against) }).toBe(against);
      }
    }),
    { numRuns },
  );
  return found;
};

describe('a finding about random rules', () => {
  it('is contradicted by no situation, whatever lists, texts and numbers it holds [5.13d, 5.13e, 5.13f, 5.13g]', () => {
    const found = tryFindings(fc.array(rule, { minLength: 1, maxLength: 4 }), runs(250, 2_000));
    for (const kind of ['never_matches', 'needs_list', 'shadowed', 'contradicts'])
      expect([kind, (found.get(kind) ?? 0) > 0]).toEqual([kind, true]);
  });

  it('is contradicted by none if one condition of a path is compared with another one [5.13d, 5.13g, 5.13i]', () => {
    const one = (asked: fc.Arbitrary<string>, rulePriority: number): fc.Arbitrary<Partial<DirectiveRule>> =>
      fc.record({
        ruleCondition: fc.tuple(fc.tuple(fc.constant('k'), asked)),
        ruleAction: fc.constantFrom('FORBID *', 'ALLOW *'),
        rulePriority: fc.constant(rulePriority),
      });
    const asked = fc.oneof(element, elements, bracketed, value);
    expect(tryFindings(fc.tuple(one(asked, 1), one(asked, 0)), runs(1_500, 5_000)).get('shadowed')).toBeGreaterThan(0);
  });
});
