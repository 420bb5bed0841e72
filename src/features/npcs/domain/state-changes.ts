import { isObject, type Json, type JsonObject } from '../../../kernel/base/json.js';
import { pointerPart } from '../../../kernel/base/json-pointer.js';
import { isSameJson } from '../../../kernel/base/same-json.js';
import type { Sliced } from '../../../kernel/base/sliced.js';

/** A value that differs between two states, by its JSON Pointer. `before` or `after` is absent where there was none. */
export type StateChange = { readonly path: string; readonly before?: Json; readonly after?: Json };

const own = (members: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(members, name) ? members[name] : undefined;

/** The differences between two objects, by member and in the order of the names. Lists are compared as a whole. It pauses after each member. */
export function* stateChanges(before: JsonObject, after: JsonObject, path = ''): Sliced<readonly StateChange[]> {
  const changes: StateChange[] = [];
  for (const name of [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()) {
    const [old, fresh] = [own(before, name), own(after, name)];
    const at = `${path}/${pointerPart(name)}`;
    yield 1;
    if (isObject(old) && isObject(fresh)) {
      // Not spread into push: there may be more than a call can have arguments.
      for (const change of yield* stateChanges(old, fresh, at)) changes.push(change);
    } else if (!isSameJson(old, fresh))
      changes.push({
        path: at,
        ...(old === undefined ? {} : { before: old }),
        ...(fresh === undefined ? {} : { after: fresh }),
      });
  }
  return changes;
}
