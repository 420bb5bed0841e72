import { isObject, type Json, type JsonObject } from './json.js';
import { sortedNames } from './sorted-names.js';

/** How many characters are written between two pauses, a value counting as VALUE_WORK more: a millisecond or two of work. */
const SLICE = 131_072;
const VALUE_WORK = 8;
/** How many characters of a long text are written at a time. */
const TEXT_CHARS = 65_536;

const endsInPair = /[\uD800-\uDBFF]$/;

/** An array or object that is being written, with its values in order and the progress. */
type Unclosed = {
  readonly names: readonly string[] | null;
  readonly values: readonly Json[] | JsonObject;
  readonly count: number;
  at: number;
};

/** @throws Error for values that I-JSON does not allow */
const tokenOf = (value: string | number | boolean | null): string => {
  if (typeof value === 'string' && !value.isWellFormed()) throw new Error('Lone surrogate is not allowed');
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`${String(value)} is not allowed`);
  return JSON.stringify(value);
};

/** The pieces of a string token. No piece splits a surrogate pair. */
function* piecesOf(text: string): Generator<string, void, void> {
  yield '"';
  for (let at = 0; at < text.length;) {
    let end = Math.min(text.length, at + TEXT_CHARS);
    if (end < text.length && endsInPair.test(text.slice(end - 1, end))) end += 1;
    yield tokenOf(text.slice(at, end)).slice(1, -1);
    at = end;
  }
  yield '"';
}

/**
 * The JCS form (RFC 8785) of a value, in UTF-8. It yields whenever the driver may pause, at any depth and inside long texts. Only listing the names
 * of one object is not divided.
 * @throws Error as `jcs`
 */
export function* jcsSlices(value: Json): Generator<number, Buffer, void> {
  const written: Buffer[] = [];
  const open: Unclosed[] = [];
  let text = '';
  let work = 0;
  const isDue = (more: string): boolean => {
    text += more;
    work += more.length + VALUE_WORK;
    if (work < SLICE) return false;
    written.push(Buffer.from(text));
    text = '';
    work = 0;
    return true;
  };
  /** The beginning of a value; the pieces of a long text follow. */
  const begin = function* (next: Json): Generator<string, void, void> {
    if (Array.isArray(next)) {
      yield '[';
      open.push({ names: null, values: next as readonly Json[], count: next.length, at: 0 });
    } else if (isObject(next)) yield '{';
    else if (typeof next === 'string' && next.length > TEXT_CHARS) yield* piecesOf(next);
    else yield tokenOf(next as string | number | boolean | null);
  };
  for (let next = value; ;) {
    for (const piece of begin(next)) if (isDue(piece)) yield SLICE;
    if (isObject(next)) {
      const names = yield* sortedNames(Object.keys(next));
      open.push({ names, values: next, count: names.length, at: 0 });
    }
    let holder = open.at(-1);
    while (holder !== undefined && holder.at === holder.count) {
      open.pop();
      if (isDue(holder.names === null ? ']' : '}')) yield SLICE;
      holder = open.at(-1);
    }
    if (holder === undefined) {
      written.push(Buffer.from(text));
      return Buffer.concat(written);
    }
    const { names, values, at } = holder;
    if (at > 0) text += ',';
    holder.at += 1;
    if (names === null) next = (values as readonly Json[])[at] as Json;
    else {
      const name = names[at] ?? '';
      next = (values as JsonObject)[name] as Json;
      for (const piece of name.length > TEXT_CHARS ? piecesOf(name) : [tokenOf(name)]) if (isDue(piece)) yield SLICE;
      text += ':';
    }
  }
}
