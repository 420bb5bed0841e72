import { isObject, type Json, type JsonObject } from './json.js';

/** Sets an own member, whatever its name. Assigning `__proto__` would change the prototype. */
const set = (target: Record<string, Json>, name: string, value: Json): void => {
  if (name === '__proto__')
    Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
  else target[name] = value;
};

/** Applies a JSON merge patch (RFC 7396): members of the patch replace, `null` removes, objects merge. Neither argument is changed. */
export const mergePatch = (target: JsonObject, patch: JsonObject): JsonObject => {
  const names = Object.keys(patch);
  if (names.length === 0) return target;
  // Spreading defines own members, `__proto__` among them.
  const merged: Record<string, Json> = { ...target };
  for (const name of names) {
    const value = patch[name] as Json;
    // The name is an own member of the patch; deleting one that is absent does nothing.
    // eslint-disable-next-line @typescript-eslint/no-dynamic-delete
    if (value === null) delete merged[name];
    else if (isObject(value)) {
      const present = Object.hasOwn(merged, name) ? merged[name] : undefined;
      set(merged, name, mergePatch(isObject(present) ? present : {}, value));
    } else set(merged, name, value);
  }
  return merged;
};
