import { describe, expect, it } from 'vitest';

import { DECISION_EFFORT } from '../../../../../src/features/rules/domain/conditions/effort.js';
import { ARRAY_ELEMENTS } from '../../../../../src/features/rules/domain/key-tree.js';
import { matchRules } from '../../../../../src/features/rules/domain/match.js';
import type { RuleFacts } from '../../../../../src/features/rules/domain/matched.js';
import { RULESET_BOUNDS } from '../../../../../src/features/rules/domain/ruleset-size.js';
import { TRACE_BYTES } from '../../../../../src/features/rules/domain/trace.js';
import { type Json, jsonBytes, type JsonObject } from '../../../../../src/kernel/base/json.js';
import { aStrictRuleset } from '../../../../support/rules.js';

type Pairs = readonly (readonly [string, string])[];

const NOTHING = { npcState: {}, context: {}, patternsHeld: [] };
/** The outcome of each condition, for a rule of an action: `yes`, `no` or an error. */
const outcomes = (ruleCondition: Pairs, facts: Partial<RuleFacts>): readonly string[] => {
  const set = aStrictRuleset([{ ruleCondition, ruleAction: 'be brief' }]);
  const { trace } = matchRules(set, { ...NOTHING, ...facts });
  return (trace.rules[0]?.conditions ?? []).map(({ holds, error }) => error ?? (holds ? 'yes' : 'no'));
};
const outcome = (value: string, seen: Json | undefined): string | undefined =>
  outcomes([['k', value]], { npcState: seen === undefined ? {} : { k: seen } })[0];
const times = <Item>(count: number, make: (index: number) => Item): readonly Item[] =>
  Array.from({ length: count }, (_, index) => make(index));

const NOT_NUMBER = 'an order of numbers met a value that is not a number';
const NOT_TEXT = 'an order of texts met a value that is not a text';
const VAGUE = 'a whole JSON number of 2^53 or more cannot be compared exactly';
const TOO_MUCH = 'the decision would have to look at too many values';
const LONG = 'the list has more than 1,000 elements';

describe('a condition of grammar 2', () => {
  const around: Partial<RuleFacts> = {
    npcState: { hp: 5, action: { type: 'NAP' } },
    context: { hour: 22, player: { id: 'p1' } },
    facts: { quest: { done: true } },
    action: { type: 'SELL', target: '', payload: { price: 5 } },
    delta: { gold: -1 },
    after: { gold: 9 },
    observation: 'Hello.',
  };

  it.each<[key: string, value: string]>([
    ['hp', '5'],
    ['state.hp', '5'],
    ['state.action.type', 'NAP'],
    ['context.hour', '22'],
    ['facts.quest.done', 'true'],
    ['player.id', 'p1'],
    ['action.type', 'SELL'],
    ['action.payload.price', '5'],
    ['delta.gold', '-1'],
    ['after.gold', '9'],
    ['observation', 'Hello.'],
    ['context', '*'],
    ['facts.quest', '*'],
  ])('looks at what its root names: %s [5.5g]', (key, value) => {
    expect(outcomes([[key, value]], around)).toEqual(['yes']);
  });

  it('looks at nothing below a missing root [5.5g]', () => {
    expect(outcomes([['facts.quest', '!']], {})).toEqual(['yes']);
    expect(outcomes([['player.id', '!']], { context: 'night' })).toEqual(['yes']);
    expect(outcomes([['toString', '!']], {})).toEqual(['yes']);
    expect(outcomes([['bag.length', '!']], { npcState: { bag: ['a'] } })).toEqual(['yes']);
  });

  it.each<[value: string, seen: Json | undefined, expected: string]>([
    ['*', 0, 'yes'],
    ['*', '', 'yes'],
    ['*', {}, 'yes'],
    ['!', 0, 'no'],
    ['<5', 4, 'yes'],
    ['<5', 5, 'no'],
    ['<=5', '5', 'yes'],
    ['>5', '5.5', 'yes'],
    ['>=5', 4.9, 'no'],
    ['5..9', 5, 'yes'],
    ['5..9', '9', 'yes'],
    ['5..9', 9.1, 'no'],
    ['<"m"', 'lamp', 'yes'],
    ['<"m"', 'm', 'no'],
    ['>="2024-05-01"', '2024-11-03', 'yes'],
    ['>"\uffff"', '\u{10000}', 'yes'],
    ['!=5', 6, 'yes'],
    ['!=5', '5.0', 'no'],
    ['!=calm', 'angry', 'yes'],
    ['!=calm', {}, 'yes'],
    ['!="5"', 5, 'yes'],
    ['"5"', '5', 'yes'],
    ['"5"', 5, 'no'],
    ['"5"', '5.0', 'no'],
    ['"true"', true, 'no'],
    ['calm', 'calm', 'yes'],
    ['any(a|b)', ['c', 'b'], 'yes'],
    ['any(a|b)', ['c'], 'no'],
    ['any(a)', 'a', 'yes'],
    ['none(a|b)', ['c'], 'yes'],
    ['none(a|b)', ['c', 'a'], 'no'],
    ['none(a)', 'a', 'no'],
    ['all(>=5)', [5, 6], 'yes'],
    ['all(>=5)', [5, 4], 'no'],
    ['all(>=5)', [5, null], 'no'],
    ['count() >= 2', ['a', 'b'], 'yes'],
    ['count() = 1', ['a', null], 'yes'],
    ['count(a) = 2', ['a', 'b', 'a'], 'yes'],
    ['count(>5) < 2', [4, 6, 7], 'no'],
    ['count(a) != 1', ['a'], 'no'],
  ])('holds as its value says: %s of %j is %s [5.5l]', (value, seen, expected) => {
    expect(outcome(value, seen)).toBe(expected);
  });

  it.each<[value: string, seen: Json, expected: string]>([
    ['!=a|b', 'c', 'yes'],
    ['!=a|b', 'a', 'no'],
    ['!=a|b', 'b', 'no'],
    ['!|!=a', 'a', 'no'],
    ['!|!=a', null, 'yes'],
  ])('means neither of several with !=: %s of %j is %s [5.5m]', (value, seen, expected) => {
    expect(outcome(value, seen)).toBe(expected);
  });

  it('is satisfied by one of the first 1,000 elements of a list [5.5n]', () => {
    const list = times(1_500, (n) => `n${n}`);
    expect([outcome('n999', list), outcome('n1000', list), outcome('any(n1000)', list)]).toEqual(['yes', 'no', 'no']);
    expect([outcome('!=key', ['key', 'lamp']), outcome('none(key)', ['key', 'lamp'])]).toEqual(['yes', 'no']);
    expect([outcome('!=key', ['key']), outcome('key', [['lamp'], ['key']])]).toEqual(['no', 'yes']);
  });

  it.each<[value: string]>([['!'], ['none(a)'], ['none(*)'], ['count() = 0'], ['count(a) < 1'], ['count(a) >= 0']])(
    'is satisfied by nothing: %s [5.5o]',
    (value) => {
      for (const nothing of [undefined, null, []]) expect(outcome(value, nothing)).toBe('yes');
    },
  );

  it.each<[value: string]>([
    ['*'],
    ['!=a'],
    ['<5'],
    ['<"a"'],
    ['0'],
    ['""'],
    ['false'],
    ['any(*)'],
    ['any(!=a)'],
    ['all(*)'],
    ['count() > 0'],
    ['0..9'],
  ])('is not satisfied by nothing: %s [5.5o]', (value) => {
    for (const nothing of [undefined, null, []]) expect(outcome(value, nothing)).toBe('no');
  });

  it('counts an empty target of an action as nothing [5.5o]', () => {
    const asked = (target: string) =>
      outcomes(
        [
          ['action.target', '*'],
          ['action.target', '!'],
        ],
        { action: { type: 'SELL', target } },
      );
    expect([asked(''), asked('orc')]).toEqual([
      ['no', 'yes'],
      ['yes', 'no'],
    ]);
  });

  it.each<[value: string, seen: Json, expected: string]>([
    ['76561198140718655', '76561198140718655', 'yes'],
    ['76561198140718655', '76561198140718656', 'no'],
    ['!=76561198140718655', '76561198140718656', 'yes'],
    ['>76561198140718655', '76561198140718656', 'yes'],
    ['5', '5.00', 'yes'],
    ['1e3', 1000, 'yes'],
    ['007', '7', 'no'],
  ])('compares texts that are numbers as numbers: %s of %j is %s [5.5r]', (value, seen, expected) => {
    expect(outcome(value, seen)).toBe(expected);
  });

  it.each<[value: string, seen: Json, expected: string]>([
    ['calm', 'Calm', 'no'],
    ['calm', 'calm ', 'no'],
    ['é', 'e\u0301', 'no'],
    ['true', true, 'yes'],
    ['true', 'true', 'yes'],
    ['false', true, 'no'],
    ['!=true', true, 'no'],
    ['calm', 5, 'no'],
  ])('compares texts by all their characters: %s of %j is %s [5.5s]', (value, seen, expected) => {
    expect(outcome(value, seen)).toBe(expected);
  });

  it.each<[value: string, seen: Json, error: string]>([
    ['<5', 'many', NOT_NUMBER],
    ['<5', true, NOT_NUMBER],
    ['<5', {}, NOT_NUMBER],
    ['5..9', 'many', NOT_NUMBER],
    ['<"m"', 5, NOT_TEXT],
    ['>"m"', false, NOT_TEXT],
    ['<5', 2 ** 53, VAGUE],
    ['5', 2 ** 53, VAGUE],
    ['!=5', 1e20, VAGUE],
    ['76561198140718655', 76_561_198_140_718_660, VAGUE],
    ['1..9', 1e20, VAGUE],
    ['none(>5)', ['many'], NOT_NUMBER],
    ['all(>5)', [6, 'many'], NOT_NUMBER],
    ['count(>5) = 1', [6, 'many'], NOT_NUMBER],
    ['none(a)', times(1_001, () => 'b'), LONG],
    ['all(b)', times(1_001, () => 'b'), LONG],
    ['count() > 5', times(1_001, () => 'b'), LONG],
  ])('cannot be decided: %s of %j [5.5t]', (value, seen, error) => {
    expect(outcome(value, seen)).toBe(error);
  });

  it.each<[value: string, seen: Json, expected: string]>([
    ['>5', ['many', 6], 'yes'],
    ['any(>5)', [true, 6], 'yes'],
    ['>5|many', 'many', 'yes'],
    ['none(>5)', ['many', 6], 'no'],
    ['all(>5)', ['many', 4], 'no'],
    ['count(>5) >= 1', ['many', 6], 'yes'],
    ['count(>5) > 2', ['many', 6], 'no'],
    ['>5.5', 1e20, 'yes'],
  ])('can be decided without the elements in error: %s of %j is %s [5.5u]', (value, seen, expected) => {
    expect(outcome(value, seen)).toBe(expected);
  });
});

describe('a path through lists', () => {
  const npcState: JsonObject = {
    bag: [
      { id: 'potion', qty: 3, tags: ['small', 'red'] },
      { id: 'key', qty: 1, tags: [] },
      { id: 'gem', price: '12' },
    ],
    grid: [
      [1, 2],
      [3, 4],
    ],
  };
  const hold = (...pairs: Pairs) => outcomes(pairs, { npcState });

  it('looks at each element, and a number is an index [5.5i]', () => {
    expect(hold(['bag.id', 'key'], ['bag.id', 'sword'], ['bag.tags', 'red'], ['bag.price', '12'])).toEqual([
      'yes',
      'no',
      'yes',
      'yes',
    ]);
    expect(
      hold(['bag.0.id', 'potion'], ['bag.0.id', 'key'], ['bag.7.id', '!'], ['grid.1.0', '3'], ['grid.0.1', '2']),
    ).toEqual(['yes', 'no', 'yes', 'yes', 'yes']);
    expect(
      hold(['grid', '4'], ['bag.tags', 'count() = 2'], ['bag.qty', 'all(>0)'], ['bag.0.tags', 'all(small|red)']),
    ).toEqual(['yes', 'yes', 'no', 'yes']);
  });

  it('counts the elements behind an index alone', () => {
    const long = times(1_001, () => ({ tags: ['a'] }));
    expect(outcomes([['long.1000.tags', 'all(a)']], { npcState: { long } })).toEqual(['yes']);
  });

  it('looks at the same element with the same letter [5.5j]', () => {
    expect(hold(['bag.id', 'key'], ['bag.qty', '>=3'])).toEqual(['yes', 'yes']);
    expect(hold(['bag[x].id', 'key'], ['bag[x].qty', '>=3'])).toEqual(['yes', 'no']);
    expect(hold(['bag[x].id', 'potion'], ['bag[x].qty', '>=3'], ['bag[x].tags', 'red'])).toEqual(['yes', 'yes', 'yes']);
    expect(hold(['bag[x].id', 'key'], ['bag[y].qty', '>=3'])).toEqual(['yes', 'yes']);
    expect(hold(['bag[x].id', 'potion|key'], ['bag[x].qty', '<3'], ['bag[x].tags', '!'])).toEqual([
      'yes',
      'yes',
      'yes',
    ]);
    expect(hold(['grid[x]', '3'], ['grid[x]', '4'])).toEqual(['yes', 'no']);
    expect(outcomes([['bag[x].id', 'key']], {})).toEqual(['no']);
  });

  it('needs the letter in each rule for itself [5.5j]', () => {
    const rule = (id: string, qty: string) => ({
      ruleCondition: [['bag[x].id', id] as const, ['bag[x].qty', qty] as const],
      ruleAction: 'A',
    });
    const set = aStrictRuleset([rule('key', '1'), rule('potion', '3'), rule('key', '3')]);
    expect(matchRules(set, { ...NOTHING, npcState }).matches.map((match) => match.rule.drRuleId)).toEqual([
      'rule-1',
      'rule-2',
    ]);
  });

  it('has an error if no certain element fits, and one cannot be decided [5.5t, 5.5u]', () => {
    const state = (qty: Json, more: readonly Json[] = []) => ({ npcState: { bag: [{ id: 'key', qty }, ...more] } });
    const pairs: Pairs = [
      ['bag[x].id', 'key'],
      ['bag[x].qty', '>=3'],
    ];
    expect(outcomes(pairs, state('many'))).toEqual(['yes', NOT_NUMBER]);
    expect(outcomes(pairs, state('many', [{ id: 'key', qty: 3 }]))).toEqual(['yes', 'yes']);
    expect(outcomes(pairs, state('many', [{ id: 'gem', qty: 3 }]))).toEqual(['yes', NOT_NUMBER]);
    expect(
      outcomes(
        pairs,
        state(
          1,
          times(1_000, () => ({ id: 'gem', qty: 1 })),
        ),
      ),
    ).toEqual(['yes', LONG]);
  });
});

describe('before the verdict', () => {
  it.each<[key: string]>([['action.type'], ['action'], ['delta.gold'], ['after.gold']])(
    'a condition on %s does not hold, not even for nothing [5.5k]',
    (key) => {
      for (const value of ['*', '!', 'none(A)']) {
        const facts = { delta: { gold: 5 }, after: { gold: 5 } };
        expect(outcomes([[key, value]], facts)).toEqual(['no']);
        expect(outcomes([[key, value]], { ...facts, action: null })).toEqual(['no']);
      }
    },
  );

  it('no error of theirs makes a rule match [5.5k]', () => {
    const set = aStrictRuleset([{ ruleCondition: [['delta.gold', '<5']], ruleAction: 'FORBID SELL' }]);
    expect(matchRules(set, { ...NOTHING, delta: { gold: 'many' } }).matches).toEqual([]);
    expect(matchRules(set, { ...NOTHING, delta: { gold: 'many' }, action: { type: 'SELL' } }).matches).toHaveLength(1);
  });
});

describe('an error', () => {
  const matches = (ruleAction: string, ...more: Pairs) => {
    const set = aStrictRuleset([{ ruleCondition: [['gold', '<5'], ...more], ruleAction }]);
    return matchRules(set, { ...NOTHING, npcState: { gold: 'many', hp: 5 } });
  };

  it('never permits: a rule that forbids matches, and no other [5.5u]', () => {
    expect(matches('FORBID SELL').matches).toHaveLength(1);
    expect(matches('FORBID SELL', ['hp', '5']).matches).toHaveLength(1);
    expect(matches('FORBID SELL', ['hp', '6']).matches).toHaveLength(0);
    for (const action of ['ALLOW SELL', 'REQUIRE SELL', 'SELL', 'be brief'])
      expect(matches(action).matches).toHaveLength(0);
  });

  it('is recorded [5.5u]', () => {
    expect(matches('FORBID SELL').trace.rules).toEqual([
      {
        drRuleId: 'rule-1',
        matched: true,
        conditions: [{ key: 'gold', expected: '<5', holds: false, error: NOT_NUMBER }],
      },
    ]);
  });

  it('leaves room in the record for everything else', () => {
    const rules = times(1_000, (n) => ({
      drRuleId: `${n}`.padStart(8, '0'),
      ...(n < 512 ? { ruleCondition: [['k'.padEnd(10, 'k'), '<5'] as const] } : {}),
      ...(n < 400 ? { ruleObsPattern: 'a' } : {}),
      ruleAction: 'FORBID SELL',
    }));
    const { trace } = matchRules(aStrictRuleset(rules), { ...NOTHING, npcState: { kkkkkkkkkk: 'many' } });
    expect(jsonBytes(trace)).toBeLessThan(TRACE_BYTES);
    expect(JSON.stringify(trace).split(NOT_NUMBER)).toHaveLength(65);
    expect(trace.rules.filter(({ conditions = [] }) => conditions.length > 0)).toHaveLength(512);
  });
});

describe('the work of a decision by grammar 2', () => {
  const workOf = (pairs: Pairs, npcState: JsonObject): number =>
    matchRules(aStrictRuleset(pairs.map((pair) => ({ ruleCondition: [pair], ruleAction: 'A' }))), {
      ...NOTHING,
      npcState,
    }).work;
  const object = (names: number): JsonObject => Object.fromEntries(times(names, (n) => [`a${n}`, { b: [1, 2] }]));

  it.each<[title: string, pairs: Pairs, npcState: JsonObject]>([
    ['steps', times(120, (n) => [`bag.a${n}.b`, '5|6'] as const), { bag: times(2_000, () => object(120)) }],
    ['tests', times(128, (n) => ['bag', `a${n}|b|c|d`] as const), { bag: times(2_000, (n) => n) }],
    ['elements', times(25, (n) => [`bag[x].a${n}.b`, '5'] as const), { bag: times(2_000, () => object(25)) }],
    ['long lists in elements', [['bag[x].a', '5|6']], { bag: times(1_000, () => ({ a: times(1_000, () => 1) })) }],
    [
      'lists in lists',
      [
        ['bag', '5'],
        ['bag.a', '5'],
      ],
      { bag: times(1_000, () => times(1_000, () => [])) },
    ],
  ])('is bounded for %s', (_, pairs, npcState) => {
    // The last step is taken whole: values, and as many elements of their lists.
    const most = DECISION_EFFORT.looks + DECISION_EFFORT.tests + 2 * ARRAY_ELEMENTS;
    expect(workOf(pairs, npcState)).toBeLessThanOrEqual(most);
    expect(most).toBeLessThan(310 * ARRAY_ELEMENTS);
  });

  const list = (make: (n: number) => Json): JsonObject => ({ bag: times(ARRAY_ELEMENTS, make) });
  /** The first of the conditions that does not hold, each in a rule of its own, and how many others do not. */
  const undecided = (pairs: Pairs, npcState: JsonObject): readonly [first: number, count: number] => {
    const set = aStrictRuleset(pairs.map((pair) => ({ ruleCondition: [pair], ruleAction: 'ALLOW SELL' })));
    const { matches, trace } = matchRules(set, { ...NOTHING, npcState });
    const first = trace.rules.findIndex(({ conditions: [only] = [] }) => only?.error === TOO_MUCH);
    return [first, pairs.length - matches.length];
  };

  it.each<[title: string, pairs: Pairs, npcState: JsonObject, most: number]>([
    ['paths', times(240, (n) => [`bag.a${n}`, '!'] as const), list(() => ({ b: 1 })), 99],
    ['counts', times(500, (n) => ['bag.a', `count(<${n})>=0`] as const), list((n) => ({ a: n })), 200],
    ['all', times(250, (n) => ['bag', `all(!=x${n}|y)`] as const), list((n) => `n${n}`), 100],
    ['long numbers', times(100, (n) => ['bag', `none(98765432109876${n + 100})`] as const), list((n) => n), 50],
    ['letters', [...times(240, (n) => [`bag.a${n}`, '!'] as const), ['bag[x].b', '1']], list(() => ({ b: 1 })), 99],
    [
      'orders of texts',
      times(20, () => ['bag', `all(>="${'\u{1f600}'.repeat(50)}")`] as const),
      list(() => '\u{1f600}'.repeat(80)),
      4,
    ],
  ])('ends in errors for too many %s [5.5w]', (_, pairs, npcState, most) => {
    expect(undecided(pairs, npcState)).toEqual([most, pairs.length - most]);
  });

  it('permits nothing if it is too much [5.5u, 5.5w]', () => {
    const rules = ['FORBID SELL', 'ALLOW SELL', 'REQUIRE SELL'].map((ruleAction) => ({
      ...{ ruleAction, ruleCondition: times(80, () => ['bag', 'count(*)>=0'] as const) },
    }));
    const { matches } = matchRules(aStrictRuleset(rules), { ...NOTHING, npcState: list((n) => n) });
    expect(matches.map(({ effect }) => effect.kind)).toEqual(['forbid', 'allow']);
    const { matches: later } = matchRules(aStrictRuleset([rules[1] ?? {}, rules[2] ?? {}, rules[0] ?? {}]), {
      ...NOTHING,
      npcState: list((n) => n),
    });
    expect(later.map(({ effect }) => effect.kind)).toEqual(['allow', 'require', 'forbid']);
  });

  it('shares the values of a path between all its conditions', () => {
    const often = times(100, (n) => ['bag.a', `>${n}`] as const);
    const [once, many] = [often.slice(0, 1), often].map((pairs) =>
      workOf(
        pairs,
        list((n) => ({ a: n })),
      ),
    );
    expect((many ?? 0) - (once ?? 0)).toBe(99 * ARRAY_ELEMENTS);
  });

  it('counts a number of more than 15 digits for four conditions, because it is compared digit by digit [5.1f]', () => {
    const ids = (count: number) =>
      times(count, (n) => ({ ruleCondition: [['id', `7656119814071${n + 1_000}`] as const] }));
    expect(aStrictRuleset(ids(128)).rulesetRules).toHaveLength(128);
    expect(() => aStrictRuleset(ids(129))).toThrow(expect.objectContaining({ code: 'RULESET_TOO_LARGE' }) as Error);
  });

  it('refuses more conditions with a letter than a decision can look at [5.1f]', () => {
    const many = times(43, (n) => ({ ruleCondition: [[`bag[x].a${n}`, '5'] as const], ruleAction: 'A' }));
    expect(() => aStrictRuleset(many)).toThrow(expect.objectContaining({ code: 'RULESET_TOO_LARGE' }) as Error);
    try {
      aStrictRuleset(many);
    } catch (refused) {
      expect(refused).toMatchObject({ details: { figures: { elementTests: 172 }, bounds: RULESET_BOUNDS } });
    }
    expect(aStrictRuleset(many.slice(0, 32)).rulesetRules).toHaveLength(32);
  });
});
