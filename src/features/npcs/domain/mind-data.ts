import { isObject, type Json, jsonBytes, type JsonObject } from '../../../kernel/base/json.js';

/** The limit of a mind's data, in bytes of its JSON in UTF-8. */
export const DATA_BYTES = 262_144;
/** The limit of a mind's facts, and of one report of facts, in bytes of its JSON in UTF-8. */
export const FACTS_BYTES = 65_536;

/** Containers of at least this many bytes are measured once; smaller ones are cheaper to measure again. */
const REMEMBERED_BYTES = 1_024;
/** Data is immutable, and a merge patch keeps the values that it does not touch, so a measurement stays valid for the lifetime of its value. */
const measured = new WeakMap<object, number>();

const bytesOf = (value: Json): number => {
  if (typeof value !== 'object' || value === null) return Buffer.byteLength(JSON.stringify(value));
  const known = measured.get(value);
  if (known !== undefined) return known;
  let bytes = 1;
  if (isObject(value)) {
    for (const [name, member] of Object.entries(value))
      bytes += Buffer.byteLength(JSON.stringify(name)) + bytesOf(member) + 2;
    bytes += Object.keys(value).length === 0 ? 1 : 0;
  } else {
    for (const element of value) bytes += bytesOf(element) + 1;
    bytes += value.length === 0 ? 1 : 0;
  }
  if (bytes >= REMEMBERED_BYTES) measured.set(value, bytes);
  return bytes;
};

/** The length of a mind's data as JSON, in bytes of UTF-8. For a value that was measured before, only the changed parts are measured. */
export const dataBytes = (data: JsonObject): number => bytesOf(data);

/** Whether new data may replace the old: it is within the limit, or at least smaller than before. */
export const dataMayBecome = (before: JsonObject, after: JsonObject): boolean => {
  const bytes = dataBytes(after);
  return bytes <= DATA_BYTES || bytes < dataBytes(before);
};

/** The same for facts, which are small enough to be measured as a whole. */
export const factsMayBecome = (before: JsonObject, after: JsonObject): boolean => {
  const bytes = jsonBytes(after);
  return bytes <= FACTS_BYTES || bytes < jsonBytes(before);
};
