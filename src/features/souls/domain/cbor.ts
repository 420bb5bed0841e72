import type { Sliced } from '../../../kernel/base/sliced.js';
import { isObject, type Json, type JsonObject } from '../../../kernel/base/json.js';
import { MAX_CONTAINERS, MAX_ITEMS, MAX_MEMBERS } from '../../../kernel/base/scan-json.js';
import { inOrder } from '../../../kernel/base/sorted-names.js';
import { MAX_SOUL_DEPTH } from './bounds.js';

/**
 * JSON as CBOR in the core deterministic encoding (RFC 8949, section 4.2.1), of which it needs only a part: integers, strings, lists, maps with
 * strings as keys, floats, `null` and booleans. Integers of at most 2^53 - 1 are encoded as integers, all other numbers as floats, each in its
 * shortest form; -0 is 0, as in JCS. cborg, with which the tests compare this, writes the smallest halves in a longer form, and drops a string's byte
 * order mark.
 */

const major = { integer: 0, negative: 1, text: 3, list: 4, map: 5, simple: 7 } as const;
const simple = { false: 20, true: 21, null: 22, half: 25, single: 26, double: 27 } as const;

const FIRST_BYTES = 65_536;
/** How many bytes are written or read between two pauses: a few milliseconds of work. */
const SLICE_BYTES = 32_768;
const scratch = new DataView(new ArrayBuffer(4));

/** The bits of a number as a half, exact; null if it has no such form. The number is not 0. */
const halfBits = (value: number): number | null => {
  if (Math.fround(value) !== value) return null;
  const sign = value < 0 ? 0x8000 : 0;
  const smallest = Math.abs(value) * 2 ** 24;
  if (smallest < 1_024) return Number.isInteger(smallest) ? sign | smallest : null;
  scratch.setFloat32(0, value);
  const bits = scratch.getUint32(0);
  const exponent = ((bits >>> 23) & 0xff) - 127;
  return exponent > 15 || (bits & 0x1fff) !== 0 ? null : sign | ((exponent + 15) << 10) | ((bits & 0x7f_ffff) >>> 13);
};

const halfOf = (bits: number): number => {
  const [sign, exponent, fraction] = [bits & 0x8000 ? -1 : 1, (bits >>> 10) & 0x1f, bits & 0x3ff];
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return exponent === 31 ? NaN : sign * (1_024 + fraction) * 2 ** (exponent - 25);
};

/** Encodes JSON; the same JSON gives the same bytes. It yields whenever the driver may pause. */
export function* encodeCbor(json: Json): Sliced<Uint8Array> {
  let bytes = Buffer.allocUnsafe(FIRST_BYTES);
  let end = 0;
  /** Reserves room and returns its start. It may replace `bytes`, so it is called before `bytes` is used. */
  const take = (count: number): number => {
    if (end + count > bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(2 * bytes.length, end + count));
      bytes.copy(larger, 0, 0, end);
      bytes = larger;
    }
    end += count;
    return end - count;
  };
  const byte = (value: number): void => {
    const at = take(1);
    bytes[at] = value;
  };
  const head = (type: number, argument: number): void => {
    const first = type << 5;
    if (argument < 24) byte(first | argument);
    else if (argument < 2 ** 8) {
      byte(first | 24);
      byte(argument);
    } else if (argument < 2 ** 16) {
      byte(first | 25);
      const at = take(2);
      bytes.writeUInt16BE(argument, at);
    } else if (argument < 2 ** 32) {
      byte(first | 26);
      const at = take(4);
      bytes.writeUInt32BE(argument, at);
    } else {
      byte(first | 27);
      const at = take(8);
      bytes.writeBigUInt64BE(BigInt(argument), at);
    }
  };
  const float = (value: number): void => {
    const first = major.simple << 5;
    const half = halfBits(value);
    if (half !== null) {
      byte(first | simple.half);
      const at = take(2);
      bytes.writeUInt16BE(half, at);
    } else if (Math.fround(value) === value) {
      byte(first | simple.single);
      const at = take(4);
      bytes.writeFloatBE(value, at);
    } else {
      byte(first | simple.double);
      const at = take(8);
      bytes.writeDoubleBE(value, at);
    }
  };
  const number = (value: number): void => {
    if (!Number.isSafeInteger(value)) float(value);
    else if (value < 0) head(major.negative, -1 - value);
    else head(major.integer, value);
  };
  const text = (utf8: Uint8Array): void => {
    head(major.text, utf8.length);
    const at = take(utf8.length);
    bytes.set(utf8, at);
  };
  let pauseAt = SLICE_BYTES;
  const list = function* (items: readonly Json[]): Sliced<void> {
    head(major.list, items.length);
    for (const item of items) {
      if (isHolder(item)) yield* holder(item);
      else single(item);
      if (end < pauseAt) continue;
      yield SLICE_BYTES;
      pauseAt = end + SLICE_BYTES;
    }
  };
  const map = function* (object: JsonObject): Sliced<void> {
    const named = Object.entries(object).map(([name, member]) => [Buffer.from(name), member] as const);
    // The length comes first in an encoded string, so shorter names come first.
    const members = yield* inOrder(named, ([one], [other]) => one.length - other.length || Buffer.compare(one, other));
    head(major.map, members.length);
    for (const [name, member] of members) {
      text(name);
      if (isHolder(member)) yield* holder(member);
      else single(member);
      if (end < pauseAt) continue;
      yield SLICE_BYTES;
      pauseAt = end + SLICE_BYTES;
    }
  };
  const holder = (value: readonly Json[] | JsonObject): Sliced<void> => (isObject(value) ? map(value) : list(value));
  const single = (value: string | number | boolean | null): void => {
    if (typeof value === 'string') text(Buffer.from(value));
    else if (typeof value === 'number') number(value);
    else if (value === null) head(major.simple, simple.null);
    else head(major.simple, value ? simple.true : simple.false);
  };
  if (isHolder(json)) yield* holder(json);
  else single(json);
  return new Uint8Array(bytes.subarray(0, end));
}

const isHolder = (value: Json): value is readonly Json[] | JsonObject => typeof value === 'object' && value !== null;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads CBOR, even if `encodeCbor` would have written the same value in other bytes. It yields whenever the driver may pause.
 * @throws Error for values that JSON cannot hold, nesting that is too deep for a soul, strings that are not UTF-8, and missing or surplus bytes
 */
export function* decodeCbor(bytes: Uint8Array): Sliced<Json> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const take = (count: number): number => {
    if (count > bytes.length - at) throw new Error('it ends too early');
    at += count;
    return at - count;
  };
  const argumentOf = (info: number): number => {
    if (info < 24) return info;
    if (info === 24) return view.getUint8(take(1));
    if (info === 25) return view.getUint16(take(2));
    if (info === 26) return view.getUint32(take(4));
    if (info === 27) return Number(view.getBigUint64(take(8)));
    throw new Error('an indefinite length');
  };
  const simpleOf = (info: number): number | boolean | null => {
    if (info === simple.null) return null;
    if (info === simple.true || info === simple.false) return info === simple.true;
    const value =
      info === simple.half
        ? halfOf(view.getUint16(take(2)))
        : info === simple.single
          ? view.getFloat32(take(4))
          : info === simple.double
            ? view.getFloat64(take(8))
            : NaN;
    if (!Number.isFinite(value)) throw new Error('no JSON');
    return value;
  };
  let containers = 0;
  let items = 0;
  /** One byte may be a list or a map, which takes a hundred times as much memory as a value; the same limit as for JSON (scan-json.ts). */
  const requireFew = (type: number, length: number): void => {
    containers += 1;
    items += length;
    const isLarge = containers > MAX_CONTAINERS || items > MAX_ITEMS || (type === major.map && length > MAX_MEMBERS);
    if (isLarge) throw new Error('more than a soul can hold');
  };
  let pauseAt = SLICE_BYTES;
  const listOf = function* (length: number, depth: number): Sliced<Json> {
    const list: Json[] = [];
    // A length may be any number; missing items are not read.
    while (list.length < length) {
      const item = next();
      list.push(isBegun(item) ? yield* holderOf(item, depth) : item);
      if (at < pauseAt) continue;
      yield SLICE_BYTES;
      pauseAt = at + SLICE_BYTES;
    }
    return list;
  };
  const mapOf = function* (length: number, depth: number): Sliced<Json> {
    const members: Record<string, Json> = {};
    for (let count = 0; count < length; count += 1) {
      const name = next();
      if (typeof name !== 'string' || name === '__proto__') throw new Error('an invalid name');
      const member = next();
      members[name] = isBegun(member) ? yield* holderOf(member, depth) : member;
      if (at < pauseAt) continue;
      yield SLICE_BYTES;
      pauseAt = at + SLICE_BYTES;
    }
    return members;
  };
  const holderOf = ({ type, length }: BegunHolder, depth: number): Sliced<Json> => {
    if (depth === MAX_SOUL_DEPTH) throw new Error('nested too deep');
    requireFew(type, length);
    return type === major.list ? listOf(length, depth + 1) : mapOf(length, depth + 1);
  };
  /** The next item; only the beginning of a list or a map. */
  const next = (): string | number | boolean | null | BegunHolder => {
    const first = view.getUint8(take(1));
    const [type, info] = [first >>> 5, first & 31];
    if (type === major.simple) return simpleOf(info);
    const argument = argumentOf(info);
    if (type === major.integer) return argument;
    if (type === major.negative) return -1 - argument;
    if (type === major.text) {
      const start = take(argument);
      return utf8.decode(bytes.subarray(start, at));
    }
    if (type === major.list || type === major.map) return { type, length: argument };
    throw new Error('no JSON');
  };
  const first = next();
  const value = isBegun(first) ? yield* holderOf(first, 0) : first;
  if (at < bytes.length) throw new Error('extra bytes after the end');
  return value;
}

type BegunHolder = { readonly type: number; readonly length: number };
const isBegun = (value: Json | BegunHolder): value is BegunHolder => typeof value === 'object' && value !== null;
