import { describe, expect, it } from 'vitest';

import type { Action } from '../../../../../src/features/rules/domain/bridge/action.js';
import { brokenBy, forbiddenBy } from '../../../../../src/features/rules/domain/bridge/refusal.js';
import { listBridgeRules } from '../../../../../src/features/rules/domain/bridge/rule-list.js';
import { validateAction } from '../../../../../src/features/rules/domain/bridge/validate.js';
import { matchRules } from '../../../../../src/features/rules/domain/match.js';
import type { DirectiveRule } from '../../../../../src/features/rules/domain/ruleset.js';
import type { JsonObject } from '../../../../../src/kernel/base/json.js';
import { aStrictRuleset } from '../../../../support/rules.js';

type Rule = Partial<DirectiveRule>;
const at = (rulePriority: number, ruleAction: string, ruleTarget: string | null = null): Rule => ({
  drRuleId: `${ruleAction}${ruleTarget === null ? '' : ` at ${ruleTarget}`}`,
  ...{ rulePriority, ruleAction, ruleTarget },
});
const matchesOf = (rules: readonly Rule[], action: Action) =>
  matchRules(aStrictRuleset(rules), {
    npcState: {},
    context: {},
    action: { ...action } as JsonObject,
    patternsHeld: [],
  }).matches;
/** The rule that an action breaks. */
const broken = (rules: readonly Rule[], type: string, target?: string): string | null => {
  const action = { type, ...(target === undefined ? {} : { target }) };
  return brokenBy(matchesOf(rules, action), action)?.rule.drRuleId ?? null;
};
/** The rule that a `SPEAK` from plain dialogue breaks. */
const spoken = (rules: readonly Rule[]): string | null => {
  const action = { type: 'SPEAK' };
  return forbiddenBy(matchesOf(rules, action), action)?.rule.drRuleId ?? null;
};

describe('a rule of grammar 2 with a target', () => {
  it('forbids other spellings of it, but requires and allows only it [5.6c]', () => {
    const near = ['King', ' king', 'king ', 'kin\u200bg', 'ｋing', 'KING'];
    for (const target of ['king', ...near])
      expect(broken([{ ...at(1, 'FORBID ATTACK'), ruleTarget: 'king' }], 'ATTACK', target), target).not.toBeNull();
    expect(broken([{ ...at(1, 'FORBID ATTACK'), ruleTarget: 'king' }], 'ATTACK', 'kingsley')).toBeNull();
    for (const target of near)
      expect(broken([{ ...at(1, 'REQUIRE ATTACK'), ruleTarget: 'king' }], 'ATTACK', target), target).not.toBeNull();
  });
});

describe('in grammar 2, the highest matching rule with an opinion on an action', () => {
  it('refuses it if it forbids it [5.6f]', () => {
    const rules = [at(1, 'FORBID SELL'), at(5, 'ALLOW GIVE'), at(3, 'FORBID SELL, GIVE')];
    expect([broken(rules, 'SELL'), broken(rules, 'GIVE'), broken(rules, 'MOVE')]).toEqual([
      'FORBID SELL, GIVE',
      null,
      null,
    ]);
  });

  it('lifts all lower rules if it allows it [5.6f]', () => {
    const floor = [at(9, 'ALLOW SELL'), at(1, 'FORBID SELL'), at(0, 'REQUIRE FLEE')];
    expect([broken(floor, 'SELL'), broken(floor, 'MOVE')]).toEqual([null, 'REQUIRE FLEE']);
    expect(broken([at(1, 'ALLOW *'), at(9, 'FORBID SELL')], 'SELL')).toBe('FORBID SELL');
    expect(broken([at(9, 'ALLOW *'), at(1, 'FORBID *')], 'SELL')).toBeNull();
  });

  it('lifts all lower rules if it requires it, and otherwise refuses [5.6f]', () => {
    const rules = [at(9, 'REQUIRE FLEE, HIDE'), at(5, 'FORBID *'), at(1, 'REQUIRE ATTACK')];
    expect([broken(rules, 'HIDE'), broken(rules, 'FLEE'), broken(rules, 'ATTACK')]).toEqual([
      null,
      null,
      'REQUIRE FLEE, HIDE',
    ]);
    expect(broken([at(5, 'FLEE'), at(9, 'FORBID FLEE')], 'FLEE')).toBe('FORBID FLEE');
  });

  it('is the first of several with the same priority [5.6f]', () => {
    expect(broken([at(5, 'ALLOW SELL'), at(5, 'FORBID SELL')], 'SELL')).toBeNull();
    expect(broken([at(5, 'FORBID SELL'), at(5, 'ALLOW SELL')], 'SELL')).toBe('FORBID SELL');
  });

  it('has an opinion on its target alone [5.6c]', () => {
    const rules = [at(9, 'ALLOW ATTACK', 'wolf'), at(5, 'FORBID ATTACK')];
    expect([broken(rules, 'ATTACK', 'wolf'), broken(rules, 'ATTACK', 'guard'), broken(rules, 'ATTACK')]).toEqual([
      null,
      'FORBID ATTACK',
      'FORBID ATTACK',
    ]);
    const spared = [at(5, 'FORBID ATTACK', 'king')];
    expect([broken(spared, 'ATTACK', 'king'), broken(spared, 'ATTACK', 'wolf')]).toEqual([
      'FORBID ATTACK at king',
      null,
    ]);
    const post = [at(5, 'REQUIRE GUARD', 'gate')];
    expect([broken(post, 'GUARD', 'gate'), broken(post, 'GUARD', 'tower')]).toEqual([null, 'REQUIRE GUARD at gate']);
  });

  it('never requires anything of plain dialogue, but forbids and allows it [5.6g]', () => {
    expect(spoken([at(5, 'REQUIRE FLEE')])).toBeNull();
    expect(spoken([at(5, 'REQUIRE FLEE'), at(1, 'FORBID SPEAK')])).toBe('FORBID SPEAK');
    expect(spoken([at(5, 'FORBID *')])).toBe('FORBID *');
    expect(spoken([at(9, 'ALLOW SPEAK'), at(5, 'FORBID *')])).toBeNull();
  });

  it('does not lift the rules of the world [5.6h]', () => {
    const question = {
      action: { type: 'USE', payload: { item: 'sword' } },
      context: { npcState: { inventory: ['bread'] } },
      recorded: null,
      facts: {},
      patternsHeld: [],
    };
    const answer = validateAction({ ...question, ruleset: aStrictRuleset([at(9, 'ALLOW *')]) });
    expect(answer).toMatchObject({ valid: false, code: 'ITEM_NOT_IN_INVENTORY' });
  });
});

it('the bridge lists the types of rules of grammar 2, whatever the verb', () => {
  const listed = listBridgeRules([aStrictRuleset([at(1, 'ALLOW SELL, GIVE'), at(1, 'FLEE'), at(1, 'FORBID ALL')])]);
  expect(listed.slice(-3).map(({ affectedActions }) => affectedActions)).toEqual([['SELL', 'GIVE'], ['FLEE'], ['*']]);
});
