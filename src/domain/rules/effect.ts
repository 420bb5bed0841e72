import { isActionType } from '../shared/action-type.js';
import type { DirectiveRule } from './ruleset.js';

/** What a rule's `ruleAction` says (contract 2.8). */
export type RuleEffect =
  | { readonly kind: 'direct'; readonly type: string; readonly target: string | null }
  /** `*` among the types forbids every action. */
  | { readonly kind: 'forbid'; readonly types: readonly string[] }
  | { readonly kind: 'say'; readonly sentence: string }
  | { readonly kind: 'none' };

export type DirectEffect = Extract<RuleEffect, { kind: 'direct' }>;

/** Whether an action that follows the higher rule breaks the lower one. */
export const losesTo = (low: DirectEffect, high: DirectEffect): boolean =>
  low.type !== high.type || (low.target !== null && low.target !== high.target);

/** The types after FORBID; null when one of them is not an action type. */
const forbiddenTypes = (list: string): readonly string[] | null => {
  const types = list.split(',').map((type) => type.trim().toUpperCase());
  return types.every((type) => type === '*' || isActionType(type)) ? [...new Set(types)] : null;
};

/** Reads a rule's action: a type, `FORBID <TYPE>[, <TYPE>...]` or `FORBID *` in any case of letters, or any other sentence. */
export const effectOf = ({ ruleAction, ruleTarget }: Pick<DirectiveRule, 'ruleAction' | 'ruleTarget'>): RuleEffect => {
  const action = ruleAction.trim();
  if (action === '') return { kind: 'none' };
  const list = /^FORBID\s+(.+)$/isu.exec(action)?.[1];
  const types = list === undefined ? null : forbiddenTypes(list);
  if (types !== null) return { kind: 'forbid', types };
  if (isActionType(action) && action !== 'FORBID') {
    return { kind: 'direct', type: action, target: ruleTarget === '' ? null : ruleTarget };
  }
  return { kind: 'say', sentence: action };
};

/** Whether a rule only describes: it is listed and decides nothing (contract 2.8). */
export const onlyDescribes = (rule: DirectiveRule): boolean =>
  rule.ruleCondition.length === 0 && (rule.ruleObsPattern ?? '') === '' && rule.ruleAction.trim() === '';
