import { isProblem, shownText } from '../conditions/problem.js';
import { type Condition, isCel, readCondition } from '../conditions/read-condition.js';
import { distinctReads, type MistakenRead } from '../mistaken-read.js';
import type { DirectiveRule, RuleCondition, RulesetContent } from '../ruleset.js';
import { namesOf } from '../state-rules/state-rule.js';
import { ACTION_MEMBERS } from './action-members.js';
import { actionsOf, declaresMember } from './payload-reads.js';

type Declaring = Pick<RulesetContent, 'rulesetRules' | 'ruleState' | 'actions'>;

const readOf = (pair: RuleCondition): Condition | null => {
  const read = readCondition(pair);
  return isProblem(read) || isCel(read) ? null : read;
};

/** `action.price`, which no action with a declared payload has. A warning if its payload has it; null otherwise. */
export const besidePayload = (
  rule: DirectiveRule,
  set: Pick<RulesetContent, 'actions'>,
  pair: RuleCondition,
): string | null => {
  const path = readOf(pair)?.path;
  if (path?.root !== 'action' || ACTION_MEMBERS.includes(path.names[0] ?? '')) return null;
  const schemas = actionsOf(rule, set).map(({ payload }) => payload);
  if (!schemas.every((schema) => schema !== undefined)) return null;
  return schemas.some((schema) => declaresMember(schema, path.names))
    ? `An action with a declared payload has no ${shownText(path.names[0] ?? '')} beside it. Perhaps action.payload${pair[0].slice('action'.length)} was meant.`
    : null;
};

/** Whether a key without a root names something that a declared payload has: `price` or `payload.price`. */
const isOfPayload = ({ actions = [] }: Declaring, names: readonly string[]): boolean => {
  const inside = names[0] === 'payload' ? names.slice(1) : names;
  return inside.length > 0 && actions.some(({ payload }) => payload !== undefined && declaresMember(payload, inside));
};

/** The members of the state that rules read and that are probably ones of the payload: `price` in place of `action.payload.price`. */
export const likelyPayloadReads = (set: Declaring): readonly MistakenRead[] => {
  if ((set.actions ?? []).length === 0) return [];
  const ofState = new Set((set.ruleState ?? []).map((rule) => namesOf(rule)[0]));
  const known = new Map<string, boolean>();
  const isLikely = (key: string, names: readonly string[]): boolean => {
    const isOf = known.get(key) ?? isOfPayload(set, names);
    known.set(key, isOf);
    return isOf;
  };
  return distinctReads(
    set.rulesetRules.flatMap(({ drRuleId, ruleCondition }) =>
      ruleCondition.flatMap((pair): readonly MistakenRead[] => {
        const [key] = pair;
        const path = readOf(pair)?.path;
        if (path?.root !== 'state' || /^state(?:\.|$)/.test(key) || ofState.has(path.names[0])) return [];
        const meant = `action.${key.startsWith('payload.') ? '' : 'payload.'}${key}`;
        return isLikely(key, path.names) ? [{ drRuleId, key, meant }] : [];
      }),
    ),
  );
};
