import { Rejection } from './rejection.js';

/** What a large body may hold (contract 1.2): an empty list takes two bytes as text and a hundred as a value. A soul of the largest size has a third of it. */
export const MAX_CONTAINERS = 400_000;
export const MAX_ITEMS = 2_000_000;
/** Of one object: names take their time where there are very many in one place, and a mind's data holds less than this. */
export const MAX_MEMBERS = 50_000;
/** How many bytes are looked at before other work has its turn: about a millisecond. */
const SLICE_BYTES = 524_288;

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [LIST, LIST_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d];

const tooMany = (): Rejection =>
  new Rejection('BODY_TOO_LARGE', {
    message: 'The body holds too many lists, objects or values.',
    details: { listsAndObjectsLimit: MAX_CONTAINERS, itemsLimit: MAX_ITEMS, membersLimit: MAX_MEMBERS },
  });

/**
 * Counts what a text of JSON would become, before it is parsed: that cannot be paused, and a body of brackets alone would hold up everybody for seconds.
 * What is no JSON shows when it is parsed.
 * @returns how many members its objects have, of which one that comes twice is two
 * @throws Rejection BODY_TOO_LARGE
 */
export function* requireModest(bytes: Uint8Array): Generator<number, number, void> {
  let containers = 0;
  let items = 0;
  let named = 0;
  /** How many members each open container has so far. */
  const members: number[] = [];
  let most = 0;
  let isText = false;
  let skips = 0;
  for (let from = 0; from < bytes.length; from += SLICE_BYTES) {
    const end = Math.min(bytes.length, from + SLICE_BYTES);
    let at = from + skips;
    for (; at < end; at += 1) {
      const byte = bytes[at];
      if (isText) {
        if (byte === BACKSLASH) at += 1;
        else if (byte === QUOTE) isText = false;
      } else if (byte === QUOTE) isText = true;
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
    // A backslash at the end of a slice takes the first byte of the next one with it.
    skips = at - end;
    if (containers > MAX_CONTAINERS || items > MAX_ITEMS || most > MAX_MEMBERS) throw tooMany();
    yield SLICE_BYTES;
  }
  return named;
}
