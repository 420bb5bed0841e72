import type { Instruction, Verdict } from '../npcs/domain/events.js';
import type { DifferenceKind } from './domain/difference-kinds.js';
import { isObject, type Json } from '../../kernel/base/json.js';
import type { DecisionEvent, DecisionOutcome } from './decide-again.js';

/**
 * Whether two values have the same JCS form (RFC 8785), without building it: the first difference ends the comparison. A member that is undefined
 * counts as absent.
 */
export const isSame = (left: Json | undefined, right: Json | undefined): boolean => {
  if (left === right) return true;
  if (Array.isArray(left) || Array.isArray(right))
    return (
      Array.isArray(left) &&
      Array.isArray(right) &&
      left.length === right.length &&
      left.every((one: Json, index) => isSame(one, right[index] as Json))
    );
  if (!isObject(left) || !isObject(right)) return false;
  for (const name of Object.keys(left))
    if (!isSame(left[name], Object.hasOwn(right, name) ? right[name] : undefined)) return false;
  for (const name of Object.keys(right)) if (right[name] !== undefined && !Object.hasOwn(left, name)) return false;
  return true;
};

const isAnyOther = (left: unknown, right: unknown): boolean => !isSame((left ?? null) as Json, (right ?? null) as Json);

/** How an allowed or refused action differs; null if it does not. */
const otherJudgement = (
  was: Pick<Verdict, 'valid' | 'action'> & { readonly said: unknown; readonly why: unknown; readonly changes: unknown },
  would: typeof was,
): DifferenceKind | null => {
  if (was.valid !== would.valid) return would.valid ? 'newlyAllowed' : 'newlyRefused';
  if (!was.valid) return isAnyOther(was.why, would.why) ? 'otherReason' : null;
  if (isAnyOther(was.action, would.action) || isAnyOther(was.said, would.said)) return 'otherAction';
  return isAnyOther(was.changes, would.changes) ? 'otherState' : null;
};

const judgement = (outcome: DecisionOutcome): Parameters<typeof otherJudgement>[0] => {
  const { verdict } = outcome as unknown as { readonly verdict: Verdict };
  const { valid, action, dialogue, stateDelta, memoryStore, code, refusedAction, details } = verdict;
  return {
    valid,
    action,
    said: dialogue,
    changes: [stateDelta, memoryStore],
    why: [code, dialogue, refusedAction, details],
  };
};

const answer = (outcome: DecisionOutcome): Parameters<typeof otherJudgement>[0] => {
  const { valid, correctedAction, code, reason, details } = outcome;
  return {
    ...{ valid: valid === true, action: correctedAction as Verdict['action'], said: null, changes: null },
    why: [code, reason, details],
  };
};

/** The difference between the recorded outcome and the replayed one; null if there is none. */
export const differenceOf = (
  { type }: DecisionEvent,
  was: DecisionOutcome,
  would: DecisionOutcome,
): DifferenceKind | null => {
  if (isSame(was, would)) return null;
  switch (type) {
    case 'VerdictReached':
    case 'VerdictRefused':
      return otherJudgement(judgement(was), judgement(would)) ?? 'otherTrace';
    case 'BridgeChecked':
      return otherJudgement(answer(was), answer(would)) ?? 'otherTrace';
    case 'DirectiveGiven':
      return isAnyOther(was['memoryRecall'], would['memoryRecall']) ? 'otherRecall' : 'otherTrace';
    case 'ContextBuilt': {
      const { prompt, constraints, ctxMessages } = would;
      return isAnyOther([was['prompt'], was['constraints'], was['ctxMessages']], [prompt, constraints, ctxMessages])
        ? 'otherPrompt'
        : 'otherTrace';
    }
    default:
      return (would['instruction'] as Instruction | undefined)?.type === 'ExecuteInference'
        ? 'otherPrompt'
        : 'otherRecall';
  }
};
