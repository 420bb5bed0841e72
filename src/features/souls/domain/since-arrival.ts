import { isObject, jcs, type Json, type JsonObject } from '../../../kernel/base/json.js';

/** What a mind got from the soul that it came from: nobody here saw the turns that these are from. */
export type ArrivedParts = { readonly persona?: string; readonly data?: JsonObject; readonly facts?: JsonObject };

/** What a mind holds now. */
export type HeldParts = {
  readonly persona: string | null;
  readonly data: JsonObject | null;
  readonly facts: JsonObject | null;
};

/** A value without the parts that are still as they arrived; undefined if nothing is left. */
const changedIn = (value: Json, arrived: Json): Json | undefined => {
  if (isObject(value) && isObject(arrived)) {
    const left = membersSince(value, arrived);
    return Object.keys(left).length === 0 ? undefined : left;
  }
  if (Array.isArray(value) && Array.isArray(arrived)) {
    const before = new Set((arrived as readonly Json[]).map(jcs));
    const left = (value as readonly Json[]).filter((item) => !before.has(jcs(item)));
    return left.length === 0 ? undefined : left;
  }
  return jcs(value) === jcs(arrived) ? undefined : value;
};

const membersSince = (value: JsonObject, arrived: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(value).flatMap(([member, inner]): [string, Json][] => {
      const before = Object.hasOwn(arrived, member) ? arrived[member] : undefined;
      const left = before === undefined ? inner : changedIn(inner, before);
      return left === undefined ? [] : [[member, left]];
    }),
  );

/** What a mind got here, after its soul arrived. */
export const sinceArrival = ({ persona, data, facts }: HeldParts, arrived: ArrivedParts): HeldParts => ({
  persona: persona === arrived.persona ? null : persona,
  data: data && membersSince(data, arrived.data ?? {}),
  facts: facts && membersSince(facts, arrived.facts ?? {}),
});
