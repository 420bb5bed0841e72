import { configure } from 'safe-stable-stringify';

/** A JSON value (RFC 8259). Every event, state and answer in Anima is one. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Strict: it throws for numbers that JSON does not have, and for what is not a JSON value. */
const sortedText = configure({ strict: true });
/** What JSON.stringify writes for half a surrogate pair, behind an even number of backslashes: a text may hold these characters, too. */
const HALF_PAIR = /(?<!\\)(?:\\\\)*\\ud[89a-f]/;

/**
 * The canonical text of a JSON value (JCS, RFC 8785): what is hashed, signed and compared.
 * @throws Error on what I-JSON cannot hold (non-finite numbers, lone surrogates); the HTTP guard refuses such bodies first.
 */
export const jcs = (value: Json): string => {
  const text = sortedText(value);
  if (text.includes('\\ud') && HALF_PAIR.test(text)) throw new Error('Lone surrogate is not allowed');
  return text;
};

/** The length of a value's JSON text in bytes of UTF-8: how a record counts. */
export const jsonBytes = (value: Json): number => Buffer.byteLength(JSON.stringify(value));

/** How many values a value holds, itself included; `most` + 1 where there are more. */
export const countValues = (value: Json, most: number): number => {
  let count = 1;
  const open: Json[] = [value];
  for (let next = open.pop(); next !== undefined && count <= most; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    const see = (inner: Json | undefined): void => {
      count += 1;
      if (typeof inner === 'object' && inner !== null) open.push(inner);
    };
    if (Array.isArray(next)) for (const inner of next as readonly Json[]) see(inner);
    // Listing the values of an object with thousands of members costs twice as much.
    else for (const name of Object.keys(next)) see((next as JsonObject)[name]);
  }
  return Math.min(count, most + 1);
};

/** The first of these values, in order, whose JSON takes no more than so many bytes together. */
export const firstFitting = <Value extends Json>(values: readonly Value[], bytes: number): readonly Value[] => {
  let left = bytes;
  const over = values.findIndex((value) => (left -= jsonBytes(value)) < 0);
  return over === -1 ? values : values.slice(0, over);
};
