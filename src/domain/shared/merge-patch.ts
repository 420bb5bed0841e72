import { isObject, type Json, type JsonObject } from './json.js';

/**
 * Applies a JSON merge patch (RFC 7396): members of the patch replace, `null` removes, objects merge.
 * Built from entries, so that a member named `__proto__` stays data.
 */
export const mergePatch = (target: JsonObject, patch: JsonObject): JsonObject => {
  const members = new Map<string, Json>(Object.entries(target));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) members.delete(name);
    else if (isObject(value)) {
      const present = members.get(name);
      members.set(name, mergePatch(isObject(present) ? present : {}, value));
    } else members.set(name, value);
  }
  return Object.fromEntries(members);
};
