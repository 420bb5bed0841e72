import { describe, expect, it } from 'vitest';

import { countCoverage, COVERAGE_SAMPLES } from '../../../../src/features/replays/domain/rule-coverage.js';
import { type RuledDecision, ruleUse } from '../../../../src/features/turns/domain/rule-use.js';
import type { DirectiveRule, DirectiveRuleSet } from '../../../../src/features/rules/domain/ruleset.js';

const rule = (
  drRuleId: string,
  ruleAction: string,
  rulePriority: number,
  ruleTarget: string | null = null,
): DirectiveRule => ({
  ...{ drRuleId, ruleName: `The rule ${drRuleId}`, ruleCondition: [['hp', '5']], ruleAction, ruleReason: '' },
  ...{ ruleTarget, rulePriority, ruleObsPattern: null, rulePromptSuffix: null },
});
const set: DirectiveRuleSet = {
  ...{ rulesetId: 'watch', version: 1, template: null },
  rulesetRules: [
    rule('warn', 'Speak softly.', 9),
    rule('flee', 'MOVE', 5, 'door'),
    rule('run', 'MOVE', 4, 'door'),
    rule('anywhere', 'MOVE', 3),
    rule('stay', 'IDLE', 2),
    rule('peace', 'FORBID ATTACK', 1),
    rule('still', 'FORBID *', 0),
  ],
};
const decision = (matched: readonly string[], verdict: Partial<RuledDecision['verdict']> | null): RuledDecision => ({
  rules: set.rulesetRules.map(({ drRuleId }) => ({ drRuleId, matched: matched.includes(drRuleId) })),
  verdict: verdict && { valid: true, action: null, ...verdict },
});
const refused = (drRuleId: string, type: string) => ({
  ...{ valid: false, code: 'RULE_REFUSED', details: { drRuleId }, refusedAction: { type } },
});

describe('the effect of a rule on a decision', () => {
  it('is to direct the action, ahead of lower matches that direct another one [10.11c]', () => {
    const all = ['warn', 'flee', 'run', 'anywhere', 'stay', 'peace'];
    const moved = decision(all, { action: { type: 'MOVE', target: 'door' } });
    expect(ruleUse(set, moved)).toEqual({ fired: all, decided: 'flee', shadowed: ['stay'] });
    expect(ruleUse(set, decision(['anywhere', 'run'], { action: { type: 'MOVE', target: 'door' } }))).toEqual({
      ...{ fired: ['run', 'anywhere'], decided: 'run', shadowed: [] },
    });
  });

  it('is to refuse it, ahead of lower matches that would also refuse it [10.11c]', () => {
    expect(ruleUse(set, decision(['flee', 'stay', 'peace', 'still'], refused('flee', 'ATTACK')))).toMatchObject({
      ...{ decided: 'flee', shadowed: ['stay', 'peace', 'still'] },
    });
    expect(ruleUse(set, decision(['flee', 'peace'], refused('flee', 'SPEAK')))).toMatchObject({ shadowed: [] });
    expect(ruleUse(set, decision(['peace', 'still'], refused('still', 'SPEAK')))).toMatchObject({ decided: 'still' });
  });

  it('is none if the world refused, another action was allowed, or nothing was decided', () => {
    const matched = ['warn', 'flee'];
    for (const verdict of [
      { valid: false, code: 'TARGET_NOT_FOUND', details: {}, refusedAction: { type: 'MOVE' } },
      { action: { type: 'SPEAK' } },
      null,
    ])
      expect(ruleUse(set, decision(matched, verdict))).toEqual({ fired: matched, decided: null, shadowed: [] });
  });
});

describe('the coverage of a set', () => {
  it('adds up decisions, with some of them as samples [10.11d]', () => {
    const count = countCoverage(set);
    for (let revision = 0; revision < COVERAGE_SAMPLES + 2; revision += 1)
      count.add(decision(['flee', 'stay', 'warn'], { action: { type: 'MOVE', target: 'door' } }), {
        ...{ npcId: 'ada', turnId: null, revision },
      });
    const { decisions, rules } = count.counted();
    expect(decisions).toBe(7);
    const counted = rules.map(({ drRuleId, fired, decided, shadowed, use }) => [
      drRuleId,
      fired,
      decided,
      shadowed,
      use,
    ]);
    expect(counted.slice(0, 5)).toEqual([
      ['warn', 7, 0, 0, 'fired'],
      ['flee', 7, 7, 0, 'decided'],
      ['run', 0, 0, 0, 'never'],
      ['anywhere', 0, 0, 0, 'never'],
      ['stay', 7, 0, 7, 'shadowed'],
    ]);
    expect(rules[1]?.samples.map(({ revision }) => revision)).toEqual([0, 1, 2, 3, 4]);
    expect(rules[1]?.ruleName).toBe('The rule flee');
  });

  it('counts the decisions in which a condition could not be decided, matched or not [10.11g]', () => {
    const count = countCoverage(set);
    const failing = { key: 'hp', expected: '<5', holds: false, error: 'it is no number' };
    const fine = { key: 'mood', expected: '*', holds: true };
    const rules = [
      { drRuleId: 'flee', matched: false, conditions: [fine, failing, failing] },
      { drRuleId: 'peace', matched: true, conditions: [failing] },
      { drRuleId: 'stay', matched: true, conditions: [fine] },
    ];
    for (let revision = 0; revision < 3; revision += 1)
      count.add({ rules, verdict: null }, { npcId: 'ada', turnId: null, revision });
    const counted = count.counted().rules.map(({ drRuleId, fired, errors, use }) => [drRuleId, fired, errors, use]);
    expect(counted.filter(([id]) => rules.some(({ drRuleId }) => drRuleId === id))).toEqual([
      ['flee', 0, 3, 'never'],
      ['stay', 3, 0, 'fired'],
      ['peace', 3, 3, 'fired'],
    ]);
  });

  it('ignores rules that the set does not have', () => {
    const count = countCoverage(set);
    count.add(
      { rules: [{ drRuleId: 'other', matched: true }], verdict: null },
      { npcId: 'ada', turnId: null, revision: 0 },
    );
    expect(count.counted().rules.every(({ use }) => use === 'never')).toBe(true);
  });
});

describe('the effect of a rule of grammar 2 on a decision', () => {
  const strict: DirectiveRuleSet = {
    ...{ rulesetId: 'shop', version: 1, template: null, grammar: 2 },
    rulesetRules: [
      rule('alarm', 'REQUIRE FLEE', 9),
      rule('fair', 'ALLOW SELL', 5),
      rule('closed', 'FORBID SELL', 3),
      rule('calm', 'FORBID ATTACK', 1),
    ],
  };
  const used = (matched: readonly string[], verdict: Partial<RuledDecision['verdict']>) =>
    ruleUse(strict, {
      rules: strict.rulesetRules.map(({ drRuleId }) => ({ drRuleId, matched: matched.includes(drRuleId) })),
      verdict: { valid: true, action: null, ...verdict },
    });

  it('is to require the action [5.6i]', () => {
    expect(used(['alarm', 'calm'], { action: { type: 'FLEE' } })).toMatchObject({ decided: 'alarm', shadowed: [] });
    expect(used(['alarm', 'closed'], { action: { type: 'SPEAK' } })).toMatchObject({ decided: null });
    expect(used(['alarm', 'closed'], refused('alarm', 'SELL'))).toMatchObject({
      decided: 'alarm',
      shadowed: ['closed'],
    });
  });

  it('is to replace another action, also if the rule does not match its own, or a higher one allows it [5.6i]', () => {
    const replaced = (matched: readonly string[], replacedBy: string, rules = strict) =>
      ruleUse(rules, {
        rules: rules.rulesetRules.map(({ drRuleId }) => ({ drRuleId, matched: matched.includes(drRuleId) })),
        verdict: { valid: true, action: { type: 'FLEE' } },
        replacedBy,
      });
    expect(replaced(['alarm', 'calm'], 'alarm')).toEqual({ fired: ['alarm', 'calm'], decided: 'alarm', shadowed: [] });
    expect(replaced(['calm'], 'alarm')).toEqual({ fired: ['alarm', 'calm'], decided: 'alarm', shadowed: [] });
    const guarded = {
      ...strict,
      rulesetRules: [rule('free', 'ALLOW FLEE', 20), ...strict.rulesetRules, rule('brave', 'FORBID FLEE', 0)],
    };
    expect(replaced(['free', 'alarm', 'brave'], 'alarm', guarded)).toEqual({
      ...{ fired: ['free', 'alarm', 'brave'], decided: 'alarm', shadowed: ['brave'] },
    });
    const count = countCoverage(guarded);
    const decision = { rules: [], verdict: { valid: true, action: { type: 'FLEE' } }, replacedBy: 'alarm' };
    count.add(decision, { npcId: 'ada', turnId: null, revision: 0 });
    expect(count.counted().rules.find(({ drRuleId }) => drRuleId === 'alarm')).toMatchObject({ fired: 1, decided: 1 });
  });

  it('is to allow what a lower rule would refuse [5.6i]', () => {
    expect(used(['fair', 'closed'], { action: { type: 'SELL' } })).toMatchObject({
      decided: 'fair',
      shadowed: ['closed'],
    });
    expect(used(['fair', 'calm'], { action: { type: 'SELL' } })).toMatchObject({ decided: null, shadowed: [] });
  });

  it('is to forbid it [5.6i]', () => {
    expect(used(['fair', 'calm'], refused('calm', 'ATTACK'))).toMatchObject({ decided: 'calm', shadowed: [] });
  });
});
