import { isObject, type Json, type JsonObject } from '../../../../kernel/base/json.js';
import { cutText } from '../../../../kernel/base/text.js';

/** How deep a value is shortened, and how many members or entries of one value are examined: the work on any state is bounded. */
const DEPTH = 3;
const EXAMINED = 1_000;
/** The name of the member that says how many others are missing. */
const MISSING = '…';
/** What that member takes, in bytes. */
const MISSING_BYTES = 32;
/** What a member has around its name and value. */
const AROUND_BYTES = 8;
/** A part of a value that is shorter than this is left out instead. */
const LEAST_BYTES = 200;

/** The bytes that a value takes in a prompt that is recorded as JSON: JSON inside JSON. */
const bytesIn = (value: Json): number => Buffer.byteLength(JSON.stringify(JSON.stringify(value))) - 2;

const shortened = (value: Json, bytes: number, depth: number): Json | undefined => {
  if (bytes < LEAST_BYTES) return undefined;
  // A quote takes four bytes, other units at most three, an escape six.
  if (typeof value === 'string') return cutText(value, Math.floor(bytes / 6));
  if (typeof value !== 'object' || value === null || depth === 0) return undefined;
  const isList = !isObject(value);
  const entries: readonly (readonly [string, Json])[] = isList
    ? value.slice(0, EXAMINED).map((entry, at) => [String(at), entry] as const)
    : Object.entries(value).slice(0, EXAMINED);
  const sized = entries.map(([name, member], at) => ({
    ...{ name, member, at },
    bytes: bytesIn(member) + AROUND_BYTES + (isList ? 0 : bytesIn(name)),
  }));
  let left = bytes - MISSING_BYTES;
  const kept = new Map<number, Json>();
  // The small members are the figures of a state; the large ones are its lists and notes. Of a list, the first entries count.
  const inOrder = isList ? sized : sized.toSorted((one, other) => one.bytes - other.bytes || one.at - other.at);
  const over = inOrder.findIndex((one) => {
    if (one.bytes > left) return true;
    kept.set(one.at, one.member);
    left -= one.bytes;
    return false;
  });
  const next = inOrder[over];
  const part = next && shortened(next.member, left - (next.bytes - bytesIn(next.member)), depth - 1);
  if (next !== undefined && part !== undefined) kept.set(next.at, part);
  const whole = isList ? value.length : Object.keys(value).length;
  const missing = whole - kept.size;
  if (isList) {
    const list = sized.flatMap(({ at }) => (kept.has(at) ? [kept.get(at) as Json] : []));
    return missing === 0 ? list : [...list, `… ${String(missing)} more`];
  }
  const object: JsonObject = Object.fromEntries(
    sized.flatMap(({ name, at }) => (kept.has(at) ? [[name, kept.get(at) as Json] as const] : [])),
  );
  return missing === 0 ? object : { ...object, [MISSING]: `${String(missing)} more` };
};

/**
 * A value that takes at most about `bytes` bytes in a recorded prompt: members that do not fit are left out whole, the largest first, and `…` says how
 * many. It always stays JSON.
 */
export const wholeMembers = (value: Json, bytes: number): Json =>
  JSON.stringify(value).length * 6 <= bytes || bytesIn(value) <= bytes
    ? value
    : (shortened(value, bytes, DEPTH) ?? MISSING);
