import type { Match } from '../matched.js';
import type { Action } from './action.js';
import { cutText } from '../../../../kernel/base/text.js';
import type { Objection } from './core-rule.js';

/** Why an action is refused: a code, a message and details. */
export type BridgeRefusal = Objection;

/** How much of a rule's reason a refusal shows, in UTF-16 units: it is recorded as dialogue and as a detail. */
export const REASON_CHARS = 2_000;

/** A match as the reason of a refusal. */
export const refusedBy = ({ rule }: Match): BridgeRefusal => {
  const ruleReason = cutText(rule.ruleReason, REASON_CHARS);
  return {
    code: 'RULE_REFUSED',
    reason: ruleReason || cutText(`The rule ${rule.ruleName || rule.drRuleId} does not let it do this.`, REASON_CHARS),
    details: { drRuleId: rule.drRuleId, ruleReason },
  };
};

const isAmong = (types: readonly string[], type: string): boolean => types.includes('*') || types.includes(type);
const isAimedAt = (target: string | null | undefined, { target: at = '' }: Action): boolean =>
  (target ?? null) === null || target === at;

/** A target without case, spaces and invisible characters, in compatibility form (NFKC). */
const bareTarget = (target: string): string =>
  target
    .normalize('NFKC')
    .replaceAll(/[\p{C}\p{Z}\p{Mn}]/gu, '')
    .toLowerCase();

/** Whether an action is aimed at a target or at one that is written like it: another spelling must not pass a rule that forbids. */
const isAimedNear = (target: string | null | undefined, { target: at = '' }: Action): boolean =>
  (target ?? null) === null || bareTarget(target ?? '') === bareTarget(at);

/** Whether a match forbids an action. */
export const forbids = ({ effect }: Match, action: Action): boolean =>
  effect.kind === 'forbid' && isAmong(effect.types, action.type) && isAimedNear(effect.target, action);

/** Whether a match of grammar 2 allows or requires an action type, at any target or at its own. */
export const permitsType = ({ effect }: Match, type: string): boolean =>
  (effect.kind === 'allow' || effect.kind === 'require') && isAmong(effect.types, type);

/** Whether a match of grammar 2 allows an action, or requires it: then no lower rule can refuse it. */
export const permits = (match: Match, action: Action): boolean =>
  permitsType(match, action.type) && 'target' in match.effect && isAimedAt(match.effect.target, action);

/** Whether a match directs or requires something other than this action. */
export const contradicts = (match: Match, action: Action): boolean => {
  const { effect } = match;
  if (effect.kind === 'require') return !permits(match, action);
  return effect.kind === 'direct' && (effect.type !== action.type || !isAimedAt(effect.target, action));
};

/** The highest match that has an opinion on an action, if it refuses it. */
const refusing = (matches: readonly Match[], action: Action, refuses: (match: Match) => boolean): Match | null => {
  const match = matches.find((one) => refuses(one) || permits(one, action));
  return match === undefined || permits(match, action) ? null : match;
};

/** What forbids this action: the highest match that forbids it, if no higher one permits it. */
export const forbiddenBy = (matches: readonly Match[], action: Action): Match | null =>
  refusing(matches, action, (one) => forbids(one, action));

/**
 * The highest match that this action breaks, if no higher one permits it: one that forbids it, one that requires another action, or in
 * grammar 1 the highest one that directs another action.
 */
export const brokenBy = (matches: readonly Match[], action: Action): Match | null => {
  const directing = matches.find(({ effect }) => effect.kind === 'direct');
  return refusing(
    matches,
    action,
    (one) => forbids(one, action) || ((one === directing || one.effect.kind === 'require') && contradicts(one, action)),
  );
};
