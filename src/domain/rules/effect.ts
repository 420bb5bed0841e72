import { isActionType } from '../shared/action-type.js';
import type { DirectiveRule } from './ruleset.js';

/** What a rule's `ruleAction` says (contract 2.8). */
export type RuleEffect =
  | { readonly kind: 'direct'; readonly type: string; readonly target: string | null }
  /** `*` forbids every action. */
  | { readonly kind: 'forbid'; readonly type: string }
  | { readonly kind: 'say'; readonly sentence: string }
  | { readonly kind: 'none' };

/** Reads a rule's action: a type, `FORBID <TYPE>`, `FORBID *`, or any other sentence. */
export const effectOf = ({ ruleAction, ruleTarget }: Pick<DirectiveRule, 'ruleAction' | 'ruleTarget'>): RuleEffect => {
  const action = ruleAction.trim();
  if (action === '') return { kind: 'none' };
  const forbidden = /^FORBID\s+(\S+)$/.exec(action)?.[1];
  if (forbidden === '*' || (forbidden !== undefined && isActionType(forbidden)))
    return { kind: 'forbid', type: forbidden };
  if (isActionType(action) && action !== 'FORBID') {
    return { kind: 'direct', type: action, target: ruleTarget === '' ? null : ruleTarget };
  }
  return { kind: 'say', sentence: action };
};

/** Whether a rule only describes: it is listed and decides nothing (contract 2.8). */
export const onlyDescribes = (rule: DirectiveRule): boolean =>
  rule.ruleCondition.length === 0 && (rule.ruleObsPattern ?? '') === '' && rule.ruleAction.trim() === '';
