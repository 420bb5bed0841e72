import type { Match } from '../rules/match.js';
import type { Action } from '../npc/events.js';
import type { Objection } from './core-rules.js';

/** Why an action does not stand: a code, a sentence and details (contract 2.4, 4.1, 7.1). */
export type Refusal = Objection;

const refusedBy = ({ rule }: Match): Refusal => ({
  code: 'RULE_REFUSED',
  reason: rule.ruleReason || `The rule ${rule.ruleName || rule.drRuleId} does not let it do this.`,
  details: { drRuleId: rule.drRuleId, ruleReason: rule.ruleReason },
});

/** The highest match that forbids this action, as a refusal (contract 2.8). */
export const forbiddenBy = (matches: readonly Match[], { type }: Action): Refusal | null => {
  const match = matches.find(({ effect }) => effect.kind === 'forbid' && (effect.type === '*' || effect.type === type));
  return match === undefined ? null : refusedBy(match);
};

/** A refusal when the action is not the one that the highest directing match directs (contract 2.8). */
export const contradicts = (matches: readonly Match[], { type, target = '' }: Action): Refusal | null => {
  for (const match of matches) {
    const { effect } = match;
    if (effect.kind !== 'direct') continue;
    return effect.type === type && (effect.target === null || effect.target === target) ? null : refusedBy(match);
  }
  return null;
};
