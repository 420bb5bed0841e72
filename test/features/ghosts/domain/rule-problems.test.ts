import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_NUMBERS, whyNever, WORLD_NUMBERS } from '../../../../src/features/ghosts/domain/never-matches.js';
import { ruleProblems } from '../../../../src/features/ghosts/domain/rule-problems.js';
import { parseCondition } from '../../../../src/features/rules/domain/condition.js';
import { matchRules } from '../../../../src/features/rules/domain/match.js';
import { drained } from '../../../../src/kernel/base/sliced.js';
import type { Json } from '../../../../src/kernel/base/json.js';
import type { DirectiveRule, RuleCondition } from '../../../../src/features/rules/domain/ruleset.js';
import { allSlices, aRule, aRuleset } from '../../../support/rules.js';
import { itLong, runs } from '../../../support/long.js';

const problems = (...rules: readonly Partial<DirectiveRule>[]) =>
  drained(ruleProblems(aRuleset(rules), WORLD_NUMBERS)).map(({ kind, subject }) => `${kind} ${subject}`);

describe('a rule that can never match', () => {
  it.each([
    [WORLD_NUMBERS, ['rule_never_fired']],
    // An external game may report `hp` as a list, each condition of which is satisfied by a different element.
    [NO_NUMBERS, []],
  ])('is judged by the numbers of its world', (numbers, kinds) => {
    const ruleCondition = [
      ['hp', '<5'],
      ['hp', '>10'],
    ] as const;
    const found = drained(ruleProblems(aRuleset([{ ruleCondition, ruleAction: 'IDLE' }]), numbers));
    expect(found.map(({ kind }) => kind)).toEqual(kinds);
  });

  const contradictory: readonly (readonly RuleCondition[])[] = [
    [
      ['hp', '<5'],
      ['hp', '>10'],
    ],
    [
      ['hp', '5'],
      ['hp', '!=5'],
    ],
    [
      ['hp', '3|4'],
      ['hp', '>=4.5'],
    ],
    [
      ['position.x', '2'],
      ['position.x', '3'],
    ],
    [['hp', 'low']],
    [
      ['action.type', 'MOVE'],
      ['action.type', 'ATTACK'],
    ],
    [['action.type', 'move']],
    [
      ['action.target', 'guard'],
      ['action.target', '!=guard'],
    ],
    [
      ['action.target', '*'],
      ['action.target', ''],
    ],
  ];
  it.each(contradictory)('is found: %j', (...ruleCondition) => {
    expect(problems({ ruleCondition, ruleAction: 'IDLE' })).toEqual(['rule_never_fired test/r1']);
  });

  const possible: readonly (readonly RuleCondition[])[] = [
    [
      ['hp', '>5'],
      ['hp', '<6'],
    ],
    [
      ['hp', '>=5'],
      ['hp', '<=5'],
    ],
    [
      ['hp', '!=1'],
      ['hp', '!=2'],
      ['hp', '>0'],
      ['hp', '<3'],
    ],
    // Both may hold for a list.
    [
      ['mood', 'angry'],
      ['mood', 'calm'],
    ],
    [
      ['inventory', 'key'],
      ['inventory', 'rope'],
    ],
    [
      ['gold', '<5'],
      ['gold', '>10'],
    ],
    [
      ['action.type', 'MOVE|ATTACK'],
      ['action.type', '!=MOVE'],
    ],
    [
      ['action.target', '<a'],
      ['action.target', '>b'],
    ],
    [['hp', '*']],
  ];
  it.each(possible)('is not reported without certainty: %j', (...ruleCondition) => {
    expect(problems({ ruleCondition, ruleAction: 'IDLE' })).toEqual([]);
  });

  it('is never reported for conditions that some number satisfies', () => {
    const operand = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constantFrom(0.5, 2.25, -1.5)).map(String);
    const part = fc.tuple(fc.constantFrom('<', '<=', '>', '>=', '!=', ''), operand).map((pair) => pair.join(''));
    const value = fc.array(part, { minLength: 1, maxLength: 2 }).map((parts) => parts.join('|'));
    const conditions = fc.array(
      value.map((one): RuleCondition => ['hp', one]),
      { minLength: 1, maxLength: 5 },
    );
    const number = fc.oneof(fc.double({ min: -5, max: 5, noNaN: true }), fc.integer({ min: -4, max: 4 }));
    fc.assert(
      fc.property(conditions, number, (ruleCondition, hp) => {
        const holds = ruleCondition.map(parseCondition).every((test) => test({ values: [hp], listed: false }));
        if (holds) expect(whyNever(aRule({ ruleCondition }), WORLD_NUMBERS).why).toBeNull();
      }),
      { numRuns: runs(200, 2_000) },
    );
  });
});

describe('the search for rules that can never match', () => {
  const numbered = Array.from({ length: 316 }, (_, number) => number);
  const alternatives = (operator: string): string => numbered.map((number) => `${operator}${number}`).join('|');

  it.each([
    ['hp', [alternatives('<')], false],
    ['hp', [alternatives('>1'), '<5'], true],
    ['hp', [alternatives(''), '>400'], true],
    ['hp', [`!=${alternatives('')}`, alternatives('')], true],
    ['hp', [...numbered.map((number) => `!=${number}`), '>=0', '<316'], false],
    ['hp', [...numbered.map((number) => `>=${number}`), '<315'], true],
    ['action.type', [alternatives('T'), '!=T1'], false],
    ['action.type', [alternatives('T'), alternatives('U')], true],
    ['action.target', [`!=${alternatives('')}`, alternatives('')], true],
  ] as const)('examines each of many alternatives once: %s', (key, values, isNever) => {
    const ruleCondition = values.map((value): RuleCondition => [key, value]);
    const { why, tests } = whyNever(aRule({ ruleCondition }), WORLD_NUMBERS);
    expect(why !== null).toBe(isNever);
    expect(tests).toBeLessThanOrEqual(2 * numbered.length + 2);
    const set = aRuleset([{ ruleCondition, ruleAction: 'IDLE' }]);
    const { slices } = allSlices(ruleProblems(set, WORLD_NUMBERS));
    expect(slices.reduce((all, one) => all + one, 0)).toBe(tests);
  });

  it('yields between rules and looks only for the first problem of each', () => {
    const rules = Array.from({ length: 400 }, (_, rule) => ({
      ...{ drRuleId: `r${rule}`, ruleAction: `ACT${rule}`, rulePriority: rule, ruleObsPattern: `p${rule}` },
    }));
    const { result, slices } = allSlices(ruleProblems(aRuleset(rules), WORLD_NUMBERS));
    expect(result).toEqual([]);
    expect(Math.max(...slices)).toBeLessThan(4_096);
  });

  it('agrees with an exhaustive check of numbers', () => {
    const operand = fc.oneof(
      fc.integer({ min: -3, max: 3 }),
      fc.constantFrom('low', '', '0.5', '2.0', '1e400', 'null', '-0'),
    );
    const part = fc
      .tuple(fc.constantFrom('<', '<=', '>', '>=', '!=', ''), operand)
      .map(([operator, one]) => `${operator}${one}`);
    const value = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('|'));
    const conditions = fc.array(
      value.map((one): RuleCondition => ['hp', one]),
      { minLength: 1, maxLength: 5 },
    );
    const tried = [-1e308, ...Array.from({ length: 65 }, (_, eighth) => eighth / 8 - 4), 1e308];
    fc.assert(
      fc.property(conditions, (ruleCondition) => {
        const tests = ruleCondition.map(parseCondition);
        const holds = tried.some((hp) => tests.every((test) => test({ values: [hp], listed: false })));
        expect(whyNever(aRule({ ruleCondition }), WORLD_NUMBERS).why === null).toBe(holds);
      }),
      { numRuns: runs(300, 5_000) },
    );
  });

  it('agrees with an exhaustive check of texts', () => {
    const operand = fc.constantFrom('A', 'B', '5', '5.0', '', 'b');
    const part = fc.oneof(
      fc.constant('*'),
      fc.tuple(fc.constantFrom('!=', '', ''), operand).map((pair) => pair.join('')),
    );
    const value = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('|'));
    const key = fc.constantFrom('action.type', 'action.target');
    const conditions = fc.array(value, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(key, conditions, (asked, values) => {
        const ruleCondition = values.map((one): RuleCondition => [asked, one]);
        const tests = ruleCondition.map(parseCondition);
        const texts = ['A', 'B', '5', 'OTHER', ...(asked === 'action.type' ? [] : ['5.0', '', 'b', '*', '!=A'])];
        const holds = texts.some((text) => tests.every((test) => test({ values: [text], listed: false })));
        expect(whyNever(aRule({ ruleCondition }), WORLD_NUMBERS).why === null).toBe(holds);
      }),
      { numRuns: runs(300, 5_000) },
    );
  });
});

describe('a rule that never wins', () => {
  const low = { drRuleId: 'low', ruleAction: 'FLEE', rulePriority: 1 };
  const high = { drRuleId: 'high', ruleAction: 'ATTACK', rulePriority: 9 };
  const wounded: RuleCondition = ['hp', '<5'];
  const night: RuleCondition = ['time', 'night'];

  it('is found when a higher rule always matches as well and directs something else', () => {
    expect(problems(low, high)).toEqual(['rule_shadowed test/low']);
    expect(problems({ ...low, ruleCondition: [night, wounded] }, { ...high, ruleCondition: [wounded] })).toEqual([
      'rule_shadowed test/low',
    ]);
    const pattern = { ruleObsPattern: 'wolf' };
    expect(problems({ ...low, ...pattern }, { ...high, ...pattern })).toEqual(['rule_shadowed test/low']);
    expect(problems({ ...low, ruleTarget: 'wolf', ruleAction: 'ATTACK' }, high)).toEqual(['rule_shadowed test/low']);
  });

  const follow: readonly [lower: string, higher: string, key?: string][] = [
    ['<5', '<20'],
    ['<5', '<=5'],
    ['5', '<20'],
    ['>=20', '>5'],
    ['3|4', '<5'],
    ['<5', '!=7|8'],
    ['<5', '*'],
    ['>9', '<2|>8'],
    ['<5', '<7', 'gold'],
    ['night', '!=day', 'time'],
    ['night', 'dusk|night', 'time'],
    ['!=day|dusk', '!=dusk', 'time'],
    ['<b', '<c', 'time'],
    ['true', 'false|true', 'angry'],
    ['guard', '*', 'action.target'],
  ];
  it.each(follow)('is found when its condition (%s) implies (%s)', (lower, higher = '*', key = 'hp') => {
    const rules = [
      { ...low, ruleCondition: [[key, lower] as const] },
      { ...high, ruleCondition: [[key, higher] as const] },
    ];
    expect(problems(...rules)).toEqual(['rule_shadowed test/low']);
  });

  const differ: readonly [lower: string, higher: string, key?: string][] = [
    ['<20', '<5'],
    ['<=5', '<5'],
    ['<5', '>1'],
    ['3|7', '<5'],
    ['*', '<5'],
    ['!=5', '<5'],
    // A text such as 3x is below 5, and not below 20.
    ['<5', '<20', 'gold'],
    // 1e0 is the number 1, and sorts after 1a.
    ['>1a', '!=1', 'gold'],
    ['day', '!=day', 'time'],
    ['!=dusk', '!=day|dusk', 'time'],
    ['guard|', '*', 'action.target'],
  ];
  it.each(differ)(
    'is not reported when its condition (%s) may hold without (%s)',
    (lower, higher = '*', key = 'hp') => {
      const rules = [
        { ...low, ruleCondition: [[key, lower] as const] },
        { ...high, ruleCondition: [[key, higher] as const] },
      ];
      expect(problems(...rules)).toEqual([]);
    },
  );

  itLong('is never reported when an input matches it but not the higher rule', () => {
    const operand = fc.constantFrom(
      ...['-1', '0', '1', '1.0', '1e0', '2', '10', '9', '0.5', 'a', 'b', 'ab', '3x', '', 'true', 'null', 'é', '1|b'],
    );
    const part = fc.oneof(
      fc.tuple(fc.constantFrom('<', '<=', '>', '>=', '!=', '', '< ', '!= '), operand).map((pair) => pair.join('')),
      fc.constant('*'),
    );
    const value = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('|'));
    const pair = fc.tuple(fc.constantFrom('hp', 'gold', 'gold', 'action.target'), value);
    const scalar = fc.oneof(
      operand,
      operand.map((text) => `${text}0`),
      fc.constantFrom<Json>(-1, 0, 0.5, 1, 1.5, 2, 9, 9.5, 10, 11, true, false, null, {}),
    );
    const states = fc.array(
      fc.record({
        hp: fc.constantFrom(-2, -1, 0, 0.5, 1, 1.5, 2, 5, 9, 10, 11),
        gold: fc.option(fc.oneof(scalar, fc.array(scalar, { maxLength: 3 })), { nil: undefined }),
        target: fc.constantFrom('', 'a', 'b', 'ab', '1', '9'),
      }),
      { minLength: 30, maxLength: 30 },
    );
    let claims = 0;
    fc.assert(
      fc.property(pair, fc.array(pair, { maxLength: 2 }), states, (higher, lower, seen) => {
        const ruleset = aRuleset([
          { ...low, ruleCondition: [...lower, higher].slice(0, Math.max(1, lower.length)) },
          { ...high, ruleCondition: [higher] },
        ]);
        if (!drained(ruleProblems(ruleset, WORLD_NUMBERS)).some(({ kind }) => kind === 'rule_shadowed')) return;
        claims += 1;
        for (const { target, gold, hp } of seen) {
          const npcState = { hp, ...(gold === undefined ? {} : { gold }) };
          const { matches } = matchRules(ruleset, {
            ...{ npcState, context: {}, patternsHeld: [] },
            action: { type: 'MOVE', target },
          });
          const matched = matches.map(({ rule }) => rule.drRuleId);
          if (matched.includes('low')) expect(matched).toContain('high');
        }
      }),
      { numRuns: runs(500, 5_000) },
    );
    expect(claims).toBeGreaterThan(200);
  });

  it('is not reported when the higher rule has more conditions or directs the same', () => {
    expect(problems(low, { ...high, ruleCondition: [wounded] })).toEqual([]);
    expect(problems(low, { ...high, ruleObsPattern: 'wolf' })).toEqual([]);
    expect(problems({ ...low, ruleCondition: [night] }, { ...high, ruleCondition: [wounded] })).toEqual([]);
    expect(problems({ ...low, ruleAction: 'ATTACK' }, { ...high, ruleTarget: 'wolf' })).toEqual([]);
    expect(problems({ ...low, ruleAction: 'be careful' }, high)).toEqual([]);
    expect(
      problems(low, {
        ...high,
        ruleCondition: [
          ['hp', '<1'],
          ['hp', '>2'],
        ],
      }),
    ).toEqual(['rule_never_fired test/high']);
  });
});

describe('rules that contradict each other', () => {
  it('direct different actions with equal priority', () => {
    expect(problems({ ruleAction: 'FLEE' }, { ruleAction: 'ATTACK' })).toEqual(['rules_contradict test/r1 + test/r2']);
  });

  it('direct something that another rule forbids whenever they match', () => {
    const directs = { ruleAction: 'ATTACK', ruleCondition: [['hp', '>5']] as const };
    expect(problems(directs, { ruleAction: 'FORBID ATTACK' })).toEqual(['rules_contradict test/r1 + test/r2']);
    expect(problems({ ruleAction: 'FORBID *', rulePriority: 7 }, directs)).toEqual([
      'rules_contradict test/r2 + test/r1',
    ]);
    expect(problems(directs, { ruleAction: 'FORBID MOVE' })).toEqual([]);
    expect(problems(directs, { ruleAction: 'FORBID ATTACK', ruleCondition: [['hp', '<5']] })).toEqual([]);
  });
});

describe('a set of grammar 2', () => {
  const strict = (numbers: typeof WORLD_NUMBERS, ...rules: readonly Partial<DirectiveRule>[]) =>
    drained(ruleProblems({ ...aRuleset(rules), grammar: 2 }, numbers));
  const ruleCondition = [
    ['hp', '<5'],
    ['hp', '>10'],
  ] as const;

  it('is judged by the same form as a check of its rules', () => {
    const found = strict(
      WORLD_NUMBERS,
      { ruleCondition, ruleAction: 'ALLOW MOVE' },
      { ruleAction: 'FORBID SELL', rulePriority: 2 },
      { ruleAction: 'ALLOW SELL', ruleCondition: [['gold', '>=10']] },
      { ruleAction: 'REQUIRE SELL' },
    );
    expect(found.map(({ kind, subject }) => `${kind} ${subject}`)).toEqual([
      'rule_never_fired test/r1',
      'rule_shadowed test/r3',
      'rules_contradict test/r4 + test/r2',
    ]);
    expect(found[0]?.detail).toBe('Nothing at hp satisfies both "<5" and ">10", so the rule can never match.');
  });

  it('gets no finding where a game may have a list', () => {
    expect(strict(NO_NUMBERS, { ruleCondition, ruleAction: 'ALLOW MOVE' })).toEqual([]);
  });
});
