import type { Json } from './json.js';

/** The length of a value's JSON text in bytes of UTF-8: how a record counts. */
export const jsonBytes = (value: Json): number => Buffer.byteLength(JSON.stringify(value));
