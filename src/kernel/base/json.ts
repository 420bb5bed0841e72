import { configure } from 'safe-stable-stringify';

/** A JSON value (RFC 8259). Every event, state and answer in Anima is one. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An object of JSON as it is; an empty one in place of anything else. */
export const objectOrEmpty = (value: unknown): JsonObject => (isObject(value) ? value : {});

/** Throws for numbers that JSON cannot represent and for values that are not JSON. */
const sortedText = configure({ strict: true });
/** What JSON.stringify writes for half a surrogate pair, after an even number of backslashes: a text may also contain these characters literally. */
const HALF_PAIR = /(?<!\\)(?:\\\\)*\\ud[89a-f]/;

/**
 * The canonical text of a JSON value (JCS, RFC 8785), which is hashed, signed and compared.
 * @throws Error for values that I-JSON does not allow (non-finite numbers, lone surrogates); the HTTP guard refuses such bodies first.
 */
export const jcs = (value: Json): string => {
  const text = sortedText(value);
  if (text.includes('\\ud') && HALF_PAIR.test(text)) throw new Error('Lone surrogate is not allowed');
  return text;
};

/** The length of the JSON text of a value in bytes of UTF-8. */
export const jsonBytes = (value: Json): number => Buffer.byteLength(JSON.stringify(value));

/**
 * Upper bounds for a value as JSON, in bytes of UTF-8: a number or a literal, a unit of a text (as an escape), and the punctuation around and between
 * values.
 */
const MOST_SCALAR_BYTES = 25;
const MOST_UNIT_BYTES = 6;
const MOST_AROUND_BYTES = 4;

/** An estimate of the size of a value, much faster than writing its text. */
export type Size = {
  /** The number of values, including the value itself; `most` + 1 if there are more. */
  readonly values: number;
  /** An upper bound of its JSON in bytes of UTF-8, for the values that were counted. */
  readonly bytesAtMost: number;
};

/** @param most where counting ends */
export const sizeAtMost = (value: Json, most: number): Size => {
  let values = 0;
  let bytes = 0;
  const open: Json[] = [];
  const see = (inner: Json): void => {
    values += 1;
    bytes += MOST_AROUND_BYTES;
    if (typeof inner === 'string') bytes += MOST_UNIT_BYTES * inner.length;
    else if (typeof inner === 'object' && inner !== null) open.push(inner);
    else bytes += MOST_SCALAR_BYTES;
  };
  see(value);
  for (let next = open.pop(); next !== undefined && values <= most; next = open.pop()) {
    if (Array.isArray(next)) for (const inner of next as readonly Json[]) see(inner);
    // Listing the values of an object with thousands of members costs twice as much.
    else
      for (const name of Object.keys(next as JsonObject)) {
        bytes += MOST_AROUND_BYTES + MOST_UNIT_BYTES * name.length;
        see((next as JsonObject)[name] as Json);
      }
  }
  return { values: Math.min(values, most + 1), bytesAtMost: bytes };
};

/** The first of these values, in order, whose JSON together has at most this many bytes. */
export const firstFitting = <Value extends Json>(values: readonly Value[], bytes: number): readonly Value[] => {
  let left = bytes;
  const over = values.findIndex((value) => (left -= jsonBytes(value)) < 0);
  return over === -1 ? values : values.slice(0, over);
};
