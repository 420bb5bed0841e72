import type { Match } from '../match.js';
import type { Action } from './action.js';
import { cutText } from '../../../../kernel/base/text.js';
import type { Objection } from './core-rules.js';

/** Why an action is refused: a code, a message and details. */
export type BridgeRefusal = Objection;

/** How much of a rule's reason a refusal shows, in UTF-16 units: it is recorded as dialogue and as a detail. */
export const REASON_CHARS = 2_000;

const refusedBy = ({ rule }: Match): BridgeRefusal => {
  const ruleReason = cutText(rule.ruleReason, REASON_CHARS);
  return {
    code: 'RULE_REFUSED',
    reason: ruleReason || cutText(`The rule ${rule.ruleName || rule.drRuleId} does not let it do this.`, REASON_CHARS),
    details: { drRuleId: rule.drRuleId, ruleReason },
  };
};

/** Whether a match forbids an action. */
export const forbids = ({ effect }: Match, { type }: Action): boolean =>
  effect.kind === 'forbid' && (effect.types.includes('*') || effect.types.includes(type));

/** Whether a match directs something other than this action. */
export const contradicts = ({ effect }: Match, { type, target = '' }: Action): boolean =>
  effect.kind === 'direct' && (effect.type !== type || (effect.target !== null && effect.target !== target));

/** The highest match that forbids this action, as a refusal. */
export const forbiddenBy = (matches: readonly Match[], action: Action): BridgeRefusal | null => {
  const match = matches.find((one) => forbids(one, action));
  return match === undefined ? null : refusedBy(match);
};

/** The highest match that this action breaks, as a refusal: one that forbids it, or the highest one that directs another action. */
export const brokenBy = (matches: readonly Match[], action: Action): BridgeRefusal | null => {
  const directing = matches.find(({ effect }) => effect.kind === 'direct');
  const match = matches.find((one) => forbids(one, action) || (one === directing && contradicts(one, action)));
  return match === undefined ? null : refusedBy(match);
};
