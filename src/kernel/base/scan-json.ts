import { Rejection } from './rejection.js';
import type { Sliced } from './sliced.js';

/** The limits of a large body: an empty array takes two bytes as text and a hundred as a value. The largest soul uses a third of these limits. */
export const MAX_CONTAINERS = 400_000;
export const MAX_ITEMS = 2_000_000;
/** The limit of one object: very many names in one object are slow, and a mind's data has fewer. */
export const MAX_MEMBERS = 50_000;
/** How many bytes are scanned before yielding: about a millisecond. */
const SLICE_BYTES = 524_288;
/** Every integer with fewer digits is exact as a double. */
const EXACT_DIGITS = 15;

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [LIST, LIST_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d];
/** For each byte, 1 if it may be part of a number. */
const ofNumbers = Uint8Array.from({ length: 256 }, (_, byte) => (/[-+.eE\d]/.test(String.fromCharCode(byte)) ? 1 : 0));

export type JsonScan = {
  /** The number of members of its objects; a duplicate counts twice. */
  readonly members: number;
  /** An integer that would be returned with different digits, as it was sent. */
  readonly inexact: string | null;
};

const tooMany = (): Rejection =>
  new Rejection('BODY_TOO_LARGE', {
    message: 'The body contains too many arrays, objects or values.',
    details: { listsAndObjectsLimit: MAX_CONTAINERS, itemsLimit: MAX_ITEMS, membersLimit: MAX_MEMBERS },
  });

/**
 * Whether an integer is returned as it was written, so that every reader of JSON reads the same value (RFC 8259, section 6). Some larger integers are
 * exact doubles as well, every sixteenth near 2^56, but are returned with different digits.
 * @param literal a number of JSON
 */
export const isExact = (literal: string): boolean => {
  if (literal.length <= EXACT_DIGITS || !/^-?\d+$/.test(literal)) return true;
  return String(Number(literal)) === literal;
};

/**
 * Scans a JSON text before it is parsed, in slices: parsing cannot be paused, and it hides duplicate members and integers that would be returned with
 * different digits. Invalid JSON is only detected when it is parsed.
 * @throws Rejection BODY_TOO_LARGE
 */
export function* scanJson(bytes: Buffer): Sliced<JsonScan> {
  let containers = 0;
  let items = 0;
  let named = 0;
  /** How many members each open container has so far. */
  const members: number[] = [];
  let most = 0;
  let isText = false;
  let skips = 0;
  /** The start of the current number; -1 outside a number. */
  let number = -1;
  let inexact: string | null = null;
  const endNumber = (at: number): void => {
    const literal = at - number > EXACT_DIGITS ? bytes.toString('latin1', number, at) : '';
    if (inexact === null && !isExact(literal)) inexact = literal;
    number = -1;
  };
  for (let from = 0; from < bytes.length; from += SLICE_BYTES) {
    const end = Math.min(bytes.length, from + SLICE_BYTES);
    let at = from + skips;
    for (; at < end; at += 1) {
      let byte = bytes[at];
      if (isText) {
        while (byte !== QUOTE && byte !== BACKSLASH && at < end - 1) byte = bytes[(at += 1)];
        if (byte === BACKSLASH) at += 1;
        else if (byte === QUOTE) isText = false;
        continue;
      }
      if (ofNumbers[byte ?? 0] === 1) {
        if (number < 0) number = at;
        continue;
      }
      if (number >= 0) endNumber(at);
      if (byte === QUOTE) isText = true;
      else if (byte === COMMA) items += 1;
      else if (byte === COLON) {
        named += 1;
        const last = members.length - 1;
        members[last] = (members[last] ?? 0) + 1;
        most = Math.max(most, members[last]);
      } else if (byte === LIST || byte === OBJECT) {
        containers += 1;
        members.push(0);
      } else if (byte === LIST_END || byte === OBJECT_END) members.pop();
    }
    // A backslash at the end of a slice escapes the first byte of the next one.
    skips = at - end;
    if (containers > MAX_CONTAINERS || items > MAX_ITEMS || most > MAX_MEMBERS) throw tooMany();
    if (end < bytes.length) yield SLICE_BYTES;
  }
  if (number >= 0) endNumber(bytes.length);
  return { members: named, inexact };
}
