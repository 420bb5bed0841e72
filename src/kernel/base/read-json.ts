import { type Sliced, drained } from './sliced.js';
import { canonicalText } from './canonical-text.js';
import type { Json } from './json.js';
import { MAX_DEPTH, MODEL_TEXTS, refuseInteger, refuseJson } from './refuse-json.js';
import { utf8Slices } from './utf8-slices.js';
import type { Rejection } from './rejection.js';
import { scanJson } from './scan-json.js';

/** A parsed JSON text, and whether it may contain `null`. */
export type ParsedJson = { readonly value: Json; readonly mayHoldNull: boolean };

/** How many values are checked before yielding: about a millisecond. */
const SLICE_VALUES = 32_768;

const inspectScalar = (value: Json, escapes: boolean): void => {
  if (typeof value === 'string') {
    if (escapes && !value.isWellFormed()) throw refuseJson('A string contains half a surrogate pair.');
  } else if (typeof value === 'number' && value - value !== 0) throw refuseJson('A number is too large.');
};

/**
 * Checks every value once. JSON.parse keeps an own `__proto__`, turns 1e999 into Infinity and lets lone surrogates through. None of them can be
 * stored, compared or hashed safely.
 * @returns how many members its objects have
 */
function* inspect(root: Json, escapes: boolean): Sliced<number> {
  const open: { readonly value: readonly Json[] | Record<string, Json>; readonly depth: number }[] = [];
  let members = 0;
  let work = 0;
  const see = (value: Json, depth: number): void => {
    work += 1;
    if (typeof value !== 'object' || value === null) inspectScalar(value, escapes);
    else if (depth === MAX_DEPTH) throw refuseJson(`The JSON is nested deeper than ${MAX_DEPTH} levels.`);
    else open.push({ value, depth: depth + 1 });
  };
  const pause = (): number => {
    const done = work;
    work = 0;
    return done;
  };
  see(root, 0);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, depth } = next;
    if (Array.isArray(value)) {
      for (const item of value as readonly Json[]) {
        see(item, depth);
        if (work >= SLICE_VALUES) yield pause();
      }
    } else {
      const object = value as Record<string, Json>;
      for (const name in object) {
        if (name === '__proto__') throw refuseJson('A member is named __proto__, which is not allowed.');
        if (escapes && !name.isWellFormed()) throw refuseJson('A member name contains half a surrogate pair.');
        const text = object[name];
        if (escapes && typeof text === 'string' && MODEL_TEXTS.has(name)) object[name] = text.toWellFormed();
        members += 1;
        see(object[name] as Json, depth);
        if (work >= SLICE_VALUES) yield pause();
      }
    }
    if (work >= SLICE_VALUES) yield pause();
  }
  return members;
}

/** A text without its byte order mark. @throws Rejection MALFORMED_JSON for bytes that are not UTF-8 */
function* textOf(bytes: Uint8Array): Sliced<string> {
  try {
    return yield* utf8Slices(bytes);
  } catch {
    throw refuseJson('The bytes are not UTF-8.');
  }
}

/** How much of an invalid text is read again to find the position of the error, in characters: that costs twenty times as much as parsing it. */
const PLACED_CHARS = 65_536;

/** Why a text is refused, with the position if the text is short enough, in the same words on every version of Node. */
function* placed(text: string, otherwise: string): Sliced<Rejection> {
  if (text.length <= PLACED_CHARS) yield* canonicalText(text);
  return refuseJson(otherwise);
}

/**
 * The only reader of external JSON, in slices around one JSON.parse. It drops a byte order mark, and refuses JSON that two readers could read
 * differently: a member that occurs twice, and an integer that would be returned with different digits (RFC 8259, sections 4 and 6).
 * @throws Rejection MALFORMED_JSON, with the reason in its details; BODY_TOO_LARGE
 */
export function* readJsonSlices(bytes: Buffer): Sliced<ParsedJson> {
  const text = yield* textOf(bytes);
  const { members, inexact } = yield* scanJson(bytes);
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    throw yield* placed(text, 'The JSON cannot be parsed.');
  }
  // JSON.parse cannot be paused, so checking its value is a separate slice.
  if (bytes.length > PLACED_CHARS) yield 1;
  const seen = yield* inspect(value, text.includes('\\u'));
  if (seen !== members) throw yield* placed(text, 'An object has two members of the same name.');
  if (inexact !== null) throw refuseInteger(inexact);
  // Further work on such a large value is a separate slice as well.
  if (bytes.length > PLACED_CHARS) yield 1;
  return { value, mayHoldNull: text.includes('null') };
}

/** `readJsonSlices` without pauses, for short texts and for commands. @throws Rejection as `readJsonSlices` */
export const readJsonBytes = (bytes: Buffer): ParsedJson => drained(readJsonSlices(bytes));

/** As `readJsonBytes`. */
export const readJson = (text: string): Json => readJsonBytes(Buffer.from(text)).value;

/**
 * The canonical text (JCS) of the bytes of a JSON text, without building the value.
 * @throws Rejection MALFORMED_JSON as `readJsonSlices`
 */
export function* canonicalBody(bytes: Buffer): Sliced<string> {
  return yield* canonicalText(yield* textOf(bytes));
}
