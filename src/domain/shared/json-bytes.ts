import type { Json } from './json.js';

/** The length of a value's JSON text in bytes of UTF-8: how a record counts. */
export const jsonBytes = (value: Json): number => Buffer.byteLength(JSON.stringify(value));

/** The first of these values, in order, whose JSON takes no more than so many bytes together. */
export const firstFitting = <Value extends Json>(values: readonly Value[], bytes: number): readonly Value[] => {
  let left = bytes;
  const over = values.findIndex((value) => (left -= jsonBytes(value)) < 0);
  return over === -1 ? values : values.slice(0, over);
};
