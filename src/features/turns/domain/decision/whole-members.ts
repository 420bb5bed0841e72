import { isObject, type Json, type JsonObject } from '../../../../kernel/base/json.js';
import { cutText } from '../../../../kernel/base/text.js';

/**
 * How deep a value is shortened, how many members or entries of one value may be kept, and how many values inside them are measured in all: the work on
 * any state is bounded.
 */
const DEPTH = 32;
const EXAMINED = 1_000;
const MEASURED = 20_000;
/** The name of the member that says how many others are missing. */
const MISSING = '…';
/** What that member takes, in bytes. */
const MISSING_BYTES = 32;
/** What a member has around its name and value. */
const AROUND_BYTES = 8;
/** A part of a value that is shorter than this is left out instead. */
const LEAST_BYTES = 200;
/** What the quotes of a text take in JSON inside JSON, and how often the length of a text is estimated from that of its beginning. */
const QUOTES_BYTES = 4;
const CUT_TRIES = 4;
/** A character that JSON in JSON writes as it is. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** The bytes that a value takes in a prompt that is recorded as JSON: JSON inside JSON. */
const bytesIn = (value: Json): number =>
  typeof value === 'string' && PLAIN.test(value)
    ? value.length + 4
    : Buffer.byteLength(JSON.stringify(JSON.stringify(value))) - 2;

/** How many values may still be measured, and what the members of objects with too many of them take at least: listing them again takes long. */
type Left = { values: number; readonly wide: Map<Json, number> };

/** How values are shortened: with this left to measure, and texts cut in this way. */
type Shortening = { readonly left: Left; readonly cut: CutTo };

/** The same for a value that takes at most `most` bytes; any number above `most` for others, without looking at all of them. */
const bytesUpTo = (value: Json, most: number, left: Left): number => {
  if (typeof value === 'string') return value.length > most ? value.length : bytesIn(value);
  if (typeof value !== 'object' || value === null) return bytesIn(value);
  if ((left.wide.get(value) ?? 0) > most) return Infinity;
  const names = isObject(value) ? Object.keys(value) : null;
  const count = names?.length ?? (value as readonly Json[]).length;
  // Each member takes at least two bytes.
  if (count * 2 > most) left.wide.set(value, count * 2);
  if (count * 2 > most || count > left.values) return Infinity;
  left.values -= count;
  let bytes = 2 + Math.max(0, count - 1);
  for (let at = 0; at < count && bytes <= most; at += 1) {
    const name = names?.[at];
    if (name !== undefined) bytes += bytesUpTo(name, most - bytes, left) + 1;
    bytes += bytesUpTo((value as JsonObject)[name ?? at] as Json, most - bytes, left);
  }
  return bytes;
};

/** A name for the member that says how many are missing, which is none of the game's. */
const missingIn = (names: readonly string[]): string => {
  let name = MISSING;
  while (names.includes(name)) name += MISSING;
  return name;
};

/** How a text is cut to some bytes. */
type CutTo = (text: string, bytes: number) => string;

/** A quote takes four bytes, other units at most three, an escape six. */
const sixBytesEach: CutTo = (text, bytes) => cutText(text, Math.floor(bytes / 6));

const asManyAsFit: CutTo = (text, bytes) => {
  let cut = cutText(text, bytes - QUOTES_BYTES);
  for (let tries = 0; tries < CUT_TRIES; tries += 1) {
    const taken = bytesIn(cut);
    if (taken <= bytes) return cut;
    cut = cutText(text, Math.floor((cut.length * (bytes - QUOTES_BYTES)) / taken) - 1);
  }
  return sixBytesEach(text, bytes);
};

const shortened = (value: Json, bytes: number, depth: number, { left, cut }: Shortening): Json | undefined => {
  if (bytes < (depth === DEPTH ? MISSING_BYTES : LEAST_BYTES)) return undefined;
  if (typeof value === 'string') return cut(value, bytes);
  if (typeof value !== 'object' || value === null || depth === 0) return undefined;
  const names = isObject(value) ? Object.keys(value) : null;
  const members = names?.slice(0, EXAMINED).map((name) => (value as JsonObject)[name] as Json);
  const sized = (members ?? (value as readonly Json[]).slice(0, EXAMINED)).map((member, at) => {
    const around = AROUND_BYTES + (names === null ? 0 : bytesUpTo(names[at] ?? '', bytes, left));
    return { at, member, around, bytes: around + bytesUpTo(member, bytes, left) };
  });
  let room = bytes - MISSING_BYTES;
  const kept = new Map<number, Json>();
  // The small members are the figures of a state; the large ones are its lists and notes. Of a list, the first entries count.
  const inOrder =
    names === null ? sized : sized.toSorted((one, other) => Math.sign(one.bytes - other.bytes) || one.at - other.at);
  const over = inOrder.findIndex((one) => {
    if (one.bytes > room) return true;
    kept.set(one.at, one.member);
    room -= one.bytes;
    return false;
  });
  const next = inOrder[over];
  const part = next && shortened(next.member, room - next.around, depth - 1, { left, cut });
  if (next !== undefined && part !== undefined) kept.set(next.at, part);
  const whole = names?.length ?? (value as readonly Json[]).length;
  const missing = whole - kept.size;
  const entries = [...kept].sort(([one], [other]) => one - other);
  if (names === null) {
    const list = entries.map(([, member]) => member);
    return missing === 0 ? list : [...list, `… ${String(missing)} more`];
  }
  const object: JsonObject = Object.fromEntries(entries.map(([at, member]) => [names[at] ?? '', member]));
  return missing === 0 ? object : { ...object, [missingIn(names)]: `${String(missing)} more` };
};

/**
 * A value that takes at most about `bytes` bytes in a recorded prompt: members that do not fit are left out whole, the largest first, and `…` says how
 * many. It always stays JSON.
 */
export const wholeMembers = (value: Json, bytes: number): Json => membersWithin(value, bytes, asManyAsFit);

/** As `wholeMembers`, as logic 3 did it: of a text, it shows no more than would fit if all its characters were the longest. */
export const wholeMembers3 = (value: Json, bytes: number): Json => membersWithin(value, bytes, sixBytesEach);

const membersWithin = (value: Json, bytes: number, cut: CutTo): Json => {
  const left: Left = { values: MEASURED, wide: new Map() };
  return bytesUpTo(value, bytes, left) <= bytes ? value : (shortened(value, bytes, DEPTH, { left, cut }) ?? MISSING);
};

/** Whether a shortened object or list shows anything beside the note on what is missing. */
export const showsMember = (shown: JsonObject | readonly Json[], whole: Json): boolean =>
  Array.isArray(shown)
    ? shown.length > 1 || shown[0] === (whole as readonly Json[])[0]
    : Object.keys(shown).some((name) => Object.hasOwn(whole as JsonObject, name));
