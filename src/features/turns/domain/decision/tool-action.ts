import type { JsonObject } from '../../../../kernel/base/json.js';
import type { ToolCall } from '../../../../kernel/model-text/tool-calls.js';
import { isActionType, toActionType } from '../../../rules/domain/action-type.js';

/** The arguments of a call that name what the action is aimed at. */
const TARGETS = ['target', 'actionTarget'];

/**
 * The action of the first call whose function is an action type, in upper snake case or in lower case: its arguments are the target and the payload.
 * @param declared the types that a call may name; null: any
 */
export const actionCalled = (
  calls: readonly ToolCall[],
  declared: Pick<ReadonlySet<string>, 'has'> | null,
): JsonObject | undefined => {
  for (const { name, arguments: given } of calls) {
    const type = toActionType(name);
    if (!isActionType(type) || declared?.has(type) === false) continue;
    const target = TARGETS.find((one) => Object.hasOwn(given, one));
    const rest = Object.entries(given).filter(([member]) => member !== target && member !== '__proto__');
    return {
      type,
      ...(target === undefined ? {} : { target: given[target] ?? null }),
      ...(rest.length === 0 ? {} : { payload: Object.fromEntries(rest) }),
    };
  }
  return undefined;
};
