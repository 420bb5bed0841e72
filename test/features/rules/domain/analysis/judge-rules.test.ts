import { describe, expect, it } from 'vitest';

import { judgeRules } from '../../../../../src/features/rules/domain/analysis/judge-rules.js';
import type { DirectiveRule, RuleCondition } from '../../../../../src/features/rules/domain/ruleset.js';
import type { StateRule } from '../../../../../src/features/rules/domain/state-rules/state-rule.js';
import { drained } from '../../../../../src/kernel/base/sliced.js';
import { allSlices, aRuleset } from '../../../../support/rules.js';

const judged = (rules: readonly Partial<DirectiveRule>[], ruleState: readonly StateRule[] = []) =>
  drained(judgeRules({ ...aRuleset(rules), grammar: 2, ruleState }));
const kinds = (...rules: readonly Partial<DirectiveRule>[]): readonly string[] =>
  judged(rules).findings.map(({ kind, drRuleIds }) => `${kind} ${drRuleIds.join(' ')}`);
const on = (...ruleCondition: readonly RuleCondition[]) => ({ ruleCondition });

describe('a rule that never matches', () => {
  it.each<readonly RuleCondition[]>([
    [
      ['action.type', 'MOVE'],
      ['action.type', 'ATTACK'],
    ],
    [
      ['action.type', 'MOVE|ATTACK'],
      ['action.type', '!=MOVE|ATTACK'],
    ],
    [['action.type', '!']],
    [['action.confidence', 'high']],
    [
      ['action.confidence', '<0.2'],
      ['action.confidence', '0.2..1'],
    ],
    [
      ['action.target', 'orc'],
      ['action.target', '!'],
    ],
    [
      ['observation', '"help"'],
      ['observation', '>"z"'],
    ],
    [
      ['hp', '!'],
      ['hp', '*'],
    ],
    [
      ['hp', 'all(<5)'],
      ['hp', '>10'],
    ],
    [
      ['hp', 'count() = 1'],
      ['hp', '<5'],
      ['hp', '>10'],
    ],
    [
      ['inventory', 'none(key)'],
      ['inventory', 'any(key)'],
    ],
    [
      ['id', 'all(9007199254740993)'],
      ['id', '9007199254740992'],
    ],
    [['bag', 'count(rope) < 0']],
    [
      ['bag', 'count(rope) >= 3'],
      ['bag', 'count() <= 2'],
    ],
    [
      ['bag[x].id', 'all(a)'],
      ['bag[x].id', 'b'],
    ],
  ])('is found: %j %j [5.13e]', (...ruleCondition) => {
    expect(kinds({ ruleCondition, ruleAction: 'ALLOW MOVE' })).toEqual(['never_matches r1']);
  });

  it.each<readonly RuleCondition[]>([
    [
      ['inventory', 'key'],
      ['inventory', 'rope'],
    ],
    [
      ['hp', 'any(<5)'],
      ['hp', 'any(>10)'],
    ],
    [
      ['hp', '>=5'],
      ['hp', '<=5'],
    ],
    [
      ['hp', '>1'],
      ['hp', '<1.0000000000000000000001'],
    ],
    [
      ['mood', '!|calm'],
      ['mood', '!=calm'],
    ],
    [
      ['id', '5'],
      ['id', '!="5"'],
    ],
    [
      ['bag[x].id', 'a'],
      ['bag[y].id', 'b'],
    ],
    [
      ['action.target', '!|orc'],
      ['action.target', '!|elf'],
    ],
    [
      ['bag', 'count(rope) >= 2'],
      ['bag', 'count() <= 2'],
    ],
  ])('is not reported without certainty: %j %j [5.13d, 5.13e]', (...ruleCondition) => {
    expect(kinds({ ruleCondition, ruleAction: 'ALLOW MOVE' })).toEqual([]);
  });

  it('says which conditions those are, and what a rule that forbids does in spite of them [5.13e]', () => {
    const conditions = on(['action.type', 'MOVE'], ['hp', '5'], ['action.type', 'SELL']);
    expect(judged([{ ...conditions, ruleAction: 'FORBID *' }]).findings).toEqual([
      {
        kind: 'never_matches',
        drRuleIds: ['r1'],
        message: 'Nothing at action.type satisfies both "MOVE" and "SELL", so the rule can never match.',
        meant: '["action.type","MOVE|SELL"]',
      },
    ]);
    const numbers = on(['hp', 'count() = 1'], ['hp', '<5'], ['hp', '>10']);
    expect(judged([{ ...numbers, ruleAction: 'FORBID *' }]).findings).toMatchObject([
      {
        message: expect.stringMatching(
          /^Nothing at hp satisfies all of .* forbids only if one of its conditions cannot be decided\.$/,
        ) as string,
      },
    ]);
  });
});

describe('a rule that only a list matches', () => {
  it('is found where orders leave no single value [5.13f]', () => {
    const rule = { ...on(['hp', '<5'], ['hp', '>10']), ruleAction: 'ALLOW MOVE' };
    expect(judged([rule]).findings).toEqual([
      {
        kind: 'needs_list',
        drRuleIds: ['r1'],
        message: 'No single value at hp satisfies both "<5" and ">10", so the rule matches only if it is a list.',
        meant: '["hp","<5|>10"]',
      },
    ]);
    expect(judged([{ ...rule, ruleAction: 'FORBID *' }]).findings[0]?.message).toMatch(
      /forbids only if it is a list, or/,
    );
  });

  it('is found for a member that is declared as a single value [5.13f]', () => {
    const rule = { ...on(['mood', 'calm'], ['mood', 'angry']), ruleAction: 'ALLOW MOVE' };
    expect(judged([rule]).findings).toEqual([]);
    expect(judged([rule], [{ path: 'mood', writer: 'model', values: ['calm', 'angry'] }]).findings).toMatchObject([
      { kind: 'needs_list', message: expect.stringMatching(/A state rule declares it as a single value\.$/) as string },
    ]);
    expect(judged([rule], [{ path: 'mood', writer: 'model', type: 'array' }]).findings).toEqual([]);
    expect(judged([rule], [{ path: '*', writer: 'game' }]).findings).toEqual([]);
  });
});

describe('a rule below another one', () => {
  const pair = (low: Partial<DirectiveRule>, high: Partial<DirectiveRule>) =>
    kinds({ drRuleId: 'low', ...low }, { drRuleId: 'high', rulePriority: 9, ...high });

  it.each<[low: RuleCondition, high: RuleCondition]>([
    [
      ['hp', '12..20'],
      ['hp', '>=10'],
    ],
    [
      ['hp', '15'],
      ['hp', '>=10'],
    ],
    [
      ['context.hour', '>20'],
      ['context.hour', '!|<8|>=18'],
    ],
    [
      ['context.hour', '!'],
      ['context.hour', '!|<8|>=18'],
    ],
    [
      ['mood', 'calm'],
      ['mood', '!=angry|sad'],
    ],
    [
      ['bag', 'all(a|b)'],
      ['bag', 'none(c)'],
    ],
    [
      ['bag', 'count(a) >= 2'],
      ['bag', 'a'],
    ],
    [
      ['bag[x].id', 'a'],
      ['bag[x].id', 'a'],
    ],
  ])('is shadowed if the other one always matches with it: %j and %j [5.13g, 5.13i]', (low, high) => {
    expect(pair({ ...on(low), ruleAction: 'ALLOW SELL' }, { ...on(high), ruleAction: 'ALLOW *' })).toEqual([
      'shadowed low high',
    ]);
  });

  it.each<[low: RuleCondition, high: RuleCondition]>([
    [
      ['hp', '>=10'],
      ['hp', '>10'],
    ],
    [
      ['mood', '!=angry'],
      ['mood', '!=angry|sad'],
    ],
    [
      ['hp', '<5'],
      ['hp', 'all(<5)'],
    ],
    [
      ['hp', '*'],
      ['mood', '*'],
    ],
    [
      ['bag[x].id', 'a'],
      ['bag[x].id', 'b'],
    ],
    // An element that is no number makes the second one undecided.
    [
      ['hp', 'all(a)'],
      ['hp', 'none(>5)'],
    ],
  ])('is not shadowed if that is not certain: %j and %j [5.13d, 5.13i]', (low, high) => {
    expect(pair({ ...on(low), ruleAction: 'ALLOW SELL' }, { ...on(high), ruleAction: 'ALLOW *' })).toEqual([]);
  });

  it.each<[low: Partial<DirectiveRule>, high: Partial<DirectiveRule>, found: boolean]>([
    [{ ruleAction: 'ALLOW SELL' }, { ruleAction: 'FORBID SELL, GIVE' }, true],
    [{ ruleAction: 'FORBID SELL' }, { ruleAction: 'ALLOW *' }, true],
    [{ ruleAction: 'FORBID SELL' }, { ruleAction: 'REQUIRE SELL' }, true],
    [{ ruleAction: 'REQUIRE SELL' }, { ruleAction: 'REQUIRE WARN' }, true],
    [{ ruleAction: 'REQUIRE SELL' }, { ruleAction: 'ALLOW *' }, true],
    [{ ruleAction: 'REQUIRE SELL', ruleOnBreak: 'replace' }, { ruleAction: 'REQUIRE WARN' }, false],
    [{ ruleAction: 'REQUIRE SELL' }, { ruleAction: 'ALLOW SELL' }, false],
    [{ ruleAction: 'FORBID *' }, { ruleAction: 'FORBID SELL' }, false],
    // Plain words do not break a rule that requires something else.
    [{ ruleAction: 'FORBID SPEAK' }, { ruleAction: 'REQUIRE WARN' }, false],
    [{ ruleAction: 'ALLOW SELL', ruleTarget: 'orc' }, { ruleAction: 'FORBID SELL', ruleTarget: 'elf' }, false],
    [{ ruleAction: 'ALLOW SELL', ruleTarget: 'orc' }, { ruleAction: 'FORBID SELL', ruleTarget: 'orc' }, true],
    // Another spelling of the target is forbidden, but not allowed.
    [{ ruleAction: 'FORBID SELL', ruleTarget: 'orc' }, { ruleAction: 'ALLOW SELL', ruleTarget: 'orc' }, false],
    [{ ruleAction: 'FORBID SELL', ruleTarget: 'orc' }, { ruleAction: 'ALLOW SELL' }, true],
    [{ ruleAction: 'ALLOW SELL' }, { ruleAction: 'be kind' }, false],
    [{ ruleAction: 'ALLOW SELL' }, { ruleAction: 'ALLOW SELL', ruleObsPattern: 'a' }, false],
    [{ ruleAction: 'ALLOW SELL', ruleObsPattern: 'a' }, { ruleAction: 'ALLOW SELL', ruleObsPattern: 'a' }, true],
    [{ ruleAction: 'ALLOW SELL' }, { ruleAction: 'ALLOW SELL', ...on(['cel', 'true']) }, false],
  ])('is shadowed if the other one decides about all its actions: %j below %j [5.13g]', (low, high, found) => {
    expect(pair(low, high)).toEqual(found ? ['shadowed low high'] : []);
  });

  it('says how an ALLOW lifts a FORBID [5.13g]', () => {
    const [finding] = judged([
      { ruleAction: 'FORBID SELL', rulePriority: 4 },
      { ruleAction: 'ALLOW SELL', ...on(['facts.price', '>=10']) },
    ]).findings;
    expect(finding?.message).toBe(
      'Whenever the rule matches, "r1" also matches, comes before it and forbids SELL, so the rule never decides about an action that a model writes. An ALLOW lifts only lower rules, so its rulePriority must be above 4.',
    );
  });

  it('contradicts one that forbids what it names [5.13h]', () => {
    expect(pair({ ruleAction: 'REQUIRE SELL' }, { ruleAction: 'FORBID SELL' })).toEqual(['contradicts low high']);
    expect(pair({ ruleAction: 'ALLOW SELL, WAVE' }, { ruleAction: 'FORBID SELL' })).toEqual(['contradicts low high']);
    expect(pair({ ruleAction: 'REQUIRE SELL' }, { ruleAction: 'FORBID SELL', ...on(['hp', '1']) })).toEqual([]);
    // A floor: the higher rule lifts the lower one.
    expect(pair({ ruleAction: 'FORBID SELL' }, { ruleAction: 'ALLOW SELL', ...on(['facts.price', '>9']) })).toEqual([]);
  });

  it('contradicts one of the same priority that requires another action, if both can match [5.13h]', () => {
    const two = (one: RuleCondition, other: RuleCondition, second: Partial<DirectiveRule> = {}) =>
      kinds({ ...on(one), ruleAction: 'REQUIRE FLEE' }, { ...on(other), ruleAction: 'REQUIRE GREET', ...second });
    expect(two(['hp', '<20'], ['facts.met', 'false'])).toEqual(['contradicts r2 r1']);
    expect(two(['hp', '<20'], ['hp', '<10'])).toEqual(['contradicts r2 r1']);
    expect(two(['hp', '<20'], ['facts.met', 'false'], { rulePriority: -1 })).toEqual([]);
    expect(two(['hp', '<20'], ['facts.met', 'false'], { ruleAction: 'REQUIRE FLEE, GREET' })).toEqual([]);
    expect(two(['hp', 'all(<20)'], ['hp', 'all(>=20)'])).toEqual([]);
    expect(two(['action.type', 'FLEE'], ['action.type', 'GREET'])).toEqual([]);
    // What is seen below a member depends on the member.
    expect(two(['bag', '!'], ['bag.id', 'a'])).toEqual([]);
    expect(two(['gold', '<5'], ['delta.gold', '>10'])).toEqual([]);
    expect(kinds({ ...on(['hp', '<9']), ruleAction: 'FORBID *' }, { ruleAction: 'REQUIRE FLEE' })).toEqual([
      'contradicts r2 r1',
    ]);
  });
});

describe('a rule that is not judged', () => {
  it('is named with the reason: CEL and grammar 1 [5.13j]', () => {
    const cel = judged([{ ...on(['cel', 'true']), ruleAction: 'FORBID SELL' }, { ruleAction: 'ALLOW MOVE' }]);
    expect(cel).toEqual({
      findings: [],
      judged: 1,
      notJudged: [{ drRuleId: 'r1', reason: 'It has a condition in CEL.' }],
    });
    expect(drained(judgeRules(aRuleset([{ ruleAction: 'FLEE' }])))).toEqual({
      findings: [],
      judged: 0,
      notJudged: [{ drRuleId: 'r1', reason: 'The set has grammar 1.' }],
    });
  });

  it('is one for which there is no work left, and all work is done in short slices [5.13j]', () => {
    const rules = Array.from({ length: 512 }, (_, n) => ({
      ...on(['k', `count(${n}) >= 2`]),
      ruleAction: 'FORBID SELL',
    }));
    const { result, slices } = allSlices(judgeRules({ ...aRuleset(rules), grammar: 2 }));
    const { findings, judged: done, notJudged } = result;
    expect([findings, done + notJudged.length, done > 256, notJudged.length > 0]).toEqual([[], 512, true, true]);
    expect(notJudged.at(-1)).toEqual({ drRuleId: 'r512', reason: 'The set is too large to judge all its rules.' });
    expect(Math.max(...slices)).toBeLessThan(2_000);
  });

  it('counts the tests of a condition, the kinds that they tell apart, and the types that are compared [5.13j]', () => {
    const letters = [...'abcdefghijklmnopqrstuvwxyz'];
    const orders = (first: string) => letters.flatMap((one) => [`<"${first}${one}"`, `>"${first}${one}a"`]).join('|');
    const numbers = Array.from({ length: 24 }, (_, n) => String(n)).join('|');
    const worked = (...rules: Parameters<typeof aRuleset>[0]) => {
      const { slices } = allSlices(judgeRules({ ...aRuleset(rules), grammar: 2 }));
      return { all: slices.reduce((sum, one) => sum + one, 0), most: Math.max(...slices) };
    };
    const costly = Array.from({ length: 20 }, (_, n) => ({
      ...on(['a', orders(n % 2 === 0 ? 'a' : 'b')], ['a', numbers]),
      ruleAction: 'FORBID SELL',
    }));
    const { all, most } = worked(...costly);
    expect([all > 20 * 52 * 8, most < 4_000]).toEqual([true, true]);

    const types = (name: string) => Array.from({ length: 64 }, (_, n) => `${name}_${String(n)}`).join(', ');
    const rules = (one: (n: number) => string) =>
      Array.from({ length: 128 }, (_, n) => ({ ...on(['k', 'x']), ruleAction: `FORBID ${one(n)}` }));
    const few = worked(...rules((n) => `T${String(n)}`));
    const many = worked(...rules((n) => types(`T${String(n)}`)));
    expect(many.all).toBeGreaterThan(4 * few.all);
  });
});
