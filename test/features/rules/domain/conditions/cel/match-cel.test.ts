import { describe, expect, it } from 'vitest';

import { DECISION_EFFORT } from '../../../../../../src/features/rules/domain/conditions/effort.js';
import { matchRules } from '../../../../../../src/features/rules/domain/match.js';
import type { RuleFacts } from '../../../../../../src/features/rules/domain/matched.js';
import { normaliseRuleset } from '../../../../../../src/features/rules/domain/normalise.js';
import { RULESET_BOUNDS } from '../../../../../../src/features/rules/domain/ruleset-size.js';
import { TRACE_BYTES } from '../../../../../../src/features/rules/domain/trace.js';
import { jsonBytes, type JsonObject } from '../../../../../../src/kernel/base/json.js';
import { Rejection } from '../../../../../../src/kernel/base/rejection.js';
import { allWarnings, allSlices, aRuleset, aStrictRuleset } from '../../../../../support/rules.js';

const NOTHING = { npcState: {}, context: {}, patternsHeld: [] };
const matched = (rules: Parameters<typeof aStrictRuleset>[0], facts: Partial<RuleFacts> = {}) =>
  matchRules(aStrictRuleset(rules), { ...NOTHING, ...facts });
const cel = (expression: string): readonly [string, string] => ['cel', expression];
const matchedIds = (rules: Parameters<typeof aStrictRuleset>[0], facts: Partial<RuleFacts> = {}) =>
  matched(rules, facts).matches.map(({ rule }) => rule.drRuleId);

describe('a condition in CEL', () => {
  const closed = {
    ruleCondition: [cel("context.hour >= 22 || !('gate_key' in state.inventory)")],
    ruleAction: 'FORBID OPEN',
  };

  it('holds if its expression is true, next to other conditions [5.11a]', () => {
    const within = { npcState: { inventory: ['gate_key'], mood: 'calm' }, context: { hour: 12 } };
    expect(matchedIds([closed], within)).toEqual([]);
    expect(matchedIds([closed], { ...within, context: { hour: 22 } })).toEqual(['rule-1']);
    expect(matchedIds([closed], { ...within, npcState: { inventory: [] } })).toEqual(['rule-1']);
    const both = { ...closed, ruleCondition: [...closed.ruleCondition, ['mood', 'angry'] as const] };
    expect(matchedIds([both], { ...within, context: { hour: 22 } })).toEqual([]);
  });

  it('is the member cel of the state in grammar 1 [5.11a]', () => {
    const set = aRuleset([{ ruleCondition: [['cel', '1 == 1']] }]);
    expect(matchRules(set, { ...NOTHING, npcState: { cel: '1 == 1' } }).matches).toHaveLength(1);
    expect(matchRules(set, NOTHING).matches).toHaveLength(0);
  });

  it.each([
    ['state.hp == 1', { npcState: { hp: 1 } }],
    ['context.hour == 1', { context: { hour: 1 } }],
    ['facts.quest.done', { facts: { quest: { done: true } } }],
    ["player.id == 'p1'", { context: { player: { id: 'p1' } } }],
    ["action.type == 'SELL'", { action: { type: 'SELL' } }],
    ['delta.gold == -1', { action: { type: 'SELL' }, delta: { gold: -1 } }],
    ['after.gold == 9', { action: { type: 'SELL' }, after: { gold: 9 } }],
    ["observation == 'Hello.'", { observation: 'Hello.' }],
  ])('reads every root: %s [5.11b]', (expression, facts) => {
    const rules = [
      { ruleCondition: [cel(expression.endsWith('done') ? `${expression} == true` : expression)], ruleAction: 'A' },
    ];
    expect(matchedIds(rules, facts)).toEqual(['rule-1']);
  });

  it('takes a missing root as empty [5.11b]', () => {
    const empty = "!has(facts.a) && !has(player.a) && !has(context.a) && observation == ''";
    expect(matchedIds([{ ruleCondition: [cel(empty)], ruleAction: 'A' }], { context: null })).toEqual(['rule-1']);
    const removed = { ruleCondition: [cel('!has(action.target) && !has(delta.gold)')], ruleAction: 'A' };
    expect(matchedIds([removed], { action: { type: 'A', target: '' } })).toEqual(['rule-1']);
  });

  it('does not hold before the verdict if it names the action or the change, and is no error [5.11b]', () => {
    for (const root of ['action', 'delta', 'after']) {
      const rule = { ruleCondition: [cel(`!has(${root}.gold)`)], ruleAction: 'FORBID SELL' };
      const { matches, pending, trace } = matched([rule]);
      expect(matches).toEqual([]);
      expect(pending).toHaveLength(1);
      expect(trace.rules[0]?.conditions).toEqual([{ key: 'cel', expected: rule.ruleCondition[0]?.[1], holds: false }]);
      expect(matchedIds([rule], { action: { type: 'SELL' } })).toEqual(['rule-1']);
    }
  });

  it('never permits with an error, which the record shows [5.11k]', () => {
    const ruleCondition = [cel('state.quest.done == true')];
    const { matches, trace } = matched([
      { ruleCondition, ruleAction: 'FORBID SELL' },
      { ruleCondition, ruleAction: 'ALLOW SELL' },
      { ruleCondition, ruleAction: 'REQUIRE FLEE' },
    ]);
    expect(matches.map(({ rule }) => rule.drRuleId)).toEqual(['rule-1']);
    for (const { conditions = [] } of trace.rules)
      expect(conditions).toMatchObject([{ holds: false, error: 'a member is missing (character 7)' }]);
  });

  it('shows in the record what it read [5.11n]', () => {
    const rules = [
      {
        ruleCondition: [
          cel("state.hp > 5 && player.name == 'Mira' && 'quest' in state && state.bag.exists(x, x == 1)"),
        ],
        ruleAction: 'A',
      },
      { ruleCondition: [['mood', 'calm'] as const, cel('state.hp > 6 || state.none == null')], ruleAction: 'A' },
    ];
    const { trace } = matched(rules, {
      npcState: { hp: 7, bag: [1, 2], none: null, mood: 'calm' },
      context: { player: { name: 'Mira' } },
    });
    expect(trace.seen).toEqual([
      { key: 'mood', value: 'calm' },
      { key: 'state.hp', value: 7 },
      { key: 'state.none', value: null },
      { key: 'player.name', value: 'Mira' },
      { key: 'state.quest', value: null },
      { key: 'state.bag', value: [1, 2] },
    ]);
  });

  it('is bounded, in work and in the record [5.11m, 5.11n]', () => {
    const body = Array.from({ length: 12 }, (_, n) => `x.a + ${n} < 0`).join(' || ');
    const large = { ruleCondition: [cel(`state.bag.exists(x, ${body})`)], ruleAction: 'A' };
    const bag = Array.from({ length: 1_000 }, (_, a) => ({ a, text: 'x'.repeat(1_000) }));
    const { work, trace } = matched([large], { npcState: { bag } });
    expect(work).toBeGreaterThan(50_000);
    // Each expression takes one step for each of its 100 nodes until it notices that its 1,000 or more are used up.
    const mostSteps = RULESET_BOUNDS.celSteps + RULESET_BOUNDS.celSteps / 10;
    expect(work).toBeLessThanOrEqual(DECISION_EFFORT.looks + DECISION_EFFORT.tests + mostSteps);
    const names = Array.from({ length: 90 }, (_, n) => ({
      ruleCondition: [cel(`state.${'n'.repeat(200)}${n} == 1`)],
      ruleAction: 'A',
    }));
    const npcState = Object.fromEntries(names.map((_, n) => [`${'n'.repeat(200)}${n}`, { text: 'y'.repeat(1_000) }]));
    expect(jsonBytes(matched(names, { npcState }).trace)).toBeLessThanOrEqual(TRACE_BYTES);
    expect(jsonBytes(trace)).toBeLessThanOrEqual(TRACE_BYTES);
  });
});

describe('registering conditions in CEL', () => {
  const register = (body: JsonObject) => allSlices(normaliseRuleset(body, () => 'made')).result;
  const refusalOf = (body: JsonObject): Rejection => {
    const refused = register(body);
    if (!(refused instanceof Rejection)) throw new Error('It was not refused.');
    return refused;
  };
  const rulesOf = (...expressions: readonly string[]): JsonObject => ({
    rulesetRules: expressions.map((expression) => ({ ruleCondition: [['cel', expression]], ruleAction: 'FLEE' })),
  });

  it('is refused with the rule, the place and what was meant [5.11c]', () => {
    expect(refusalOf(rulesOf('state.hp > 5', 'hp > 5 and mp > 3'))).toMatchObject({
      code: 'RULES_INVALID',
      details: {
        problems: [
          {
            drRuleId: 'rule-2',
            pointer: '/rulesetRules/1/ruleCondition/0/1',
            message: 'Character 8: "and" is not an operator of CEL.',
            meant: 'state.hp > 5 && state.mp > 3',
          },
        ],
      },
    });
    const long = refusalOf(rulesOf(`state.a == "${'x'.repeat(2_000)}"`));
    expect(long.details['problems']).toMatchObject([{ message: 'The expression has 2013 bytes, but may have 1000.' }]);
  });

  it('is refused if the expressions could take too many steps together [5.11m, 5.1f]', () => {
    const body = 'x == 1 || x == 2 || x == 3 || x == 4 || x == 5';
    const loops = (count: number) => rulesOf(...Array.from({ length: count }, () => `state.bag.exists(x, ${body})`));
    expect(register(loops(5))).not.toBeInstanceOf(Rejection);
    expect(refusalOf(loops(6))).toMatchObject({
      code: 'RULESET_TOO_LARGE',
      details: { figures: { celSteps: 120_000, conditions: 6 }, bounds: RULESET_BOUNDS },
    });
    const plain = (count: number) =>
      rulesOf(...Array.from({ length: count }, () => `state.hp > 5 || state.mp > 5 || state.a || state.b`));
    expect(register(plain(100))).not.toBeInstanceOf(Rejection);
    expect(refusalOf(plain(101))).toMatchObject({ code: 'RULESET_TOO_LARGE' });
  });

  it('warns of the members that it reads and the model may write [5.11o, 5.8i]', () => {
    const content = register(
      rulesOf("state.hp > 5 && 'done' in state && context.hour > 3 && state.bag.exists(x, x.own == state.self)"),
    );
    if (content instanceof Rejection) throw content;
    expect(allWarnings(content).flatMap(({ message }) => /^The rule reads (\S+),/.exec(message)?.[1] ?? [])).toEqual([
      'done',
      'bag',
      'self',
    ]);
  });
});
