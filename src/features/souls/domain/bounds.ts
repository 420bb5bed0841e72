import type { Sliced } from '../../../kernel/base/sliced.js';
import { MAX_CONTAINERS, MAX_ITEMS, MAX_MEMBERS } from '../../../kernel/base/scan-json.js';

/** The maximum size of a soul, in bytes of its JCS form. */
export const MAX_SOUL_BYTES = 15_728_640;
export const MAX_SOUL_MEMORIES = 100_000;
/** The limit of a part, in bytes of its JCS form: an import records each part in one event, which holds 900,000 bytes. */
export const MAX_PART_BYTES = 786_432;
/** How many ancestors a soul remembers. */
export const MAX_SOUL_LINKS = 64;
/** The limit of nesting, counting the document itself as one: a request may have 32 levels, and an import wraps the document in two. */
export const MAX_SOUL_DEPTH = 30;
/**
 * The limit of lists and objects, and of all values including these; leaves room for what wraps a soul in a request. An object also has at most
 * MAX_MEMBERS.
 */
export const MAX_SOUL_CONTAINERS = MAX_CONTAINERS - 1_000;
export const MAX_SOUL_VALUES = MAX_ITEMS - 1_000;

/** How many bytes are counted between two pauses: one or two milliseconds of work. */
const SLICE_BYTES = 65_536;

/** Why a value cannot be in a soul. */
export type OutOfBounds = 'malformed' | 'too_large';
/**
 * The size of a JSON value: the fewest bytes that it can have in JCS, the number of its lists and objects, and the number of all its values. The
 * exact size is known only once it is written.
 */
export type PartSize = { readonly bytes: number; readonly containers: number; readonly values: number };
/** How many bytes are left, how many are left at the next pause, and the counts so far. */
type SizeSoFar = { left: number; pauseAt: number; containers: number; values: number };

const wrongText = (text: string, room: SizeSoFar): OutOfBounds | null => {
  room.left -= text.length + 2;
  return room.left < 0 ? 'too_large' : !text.isWellFormed() ? 'malformed' : null;
};

/** The problem of a value itself, regardless of its contents. */
const wrongAlone = (value: unknown, depth: number, room: SizeSoFar): OutOfBounds | null => {
  room.values += 1;
  if (typeof value === 'string') return wrongText(value, room);
  room.left -= 1;
  if (room.left < 0) return 'too_large';
  if (typeof value === 'number') return Number.isFinite(value) ? null : 'malformed';
  if (typeof value === 'boolean' || value === null) return null;
  if (typeof value !== 'object') return 'malformed';
  room.containers += 1;
  return depth === MAX_SOUL_DEPTH ? 'too_large' : null;
};

function* wrongIn(value: unknown, depth: number, room: SizeSoFar): Sliced<OutOfBounds | null> {
  const wrong = wrongAlone(value, depth, room);
  if (wrong !== null || typeof value !== 'object' || value === null) return wrong;
  const names = Array.isArray(value) ? null : Object.keys(value);
  if (names !== null && names.length > MAX_MEMBERS) return 'too_large';
  const items = names === null ? (value as readonly unknown[]) : (Object.values(value) as readonly unknown[]);
  for (let at = 0; at < items.length; at += 1) {
    const name = names?.[at];
    const wrongName = name === '__proto__' ? 'malformed' : name === undefined ? null : wrongText(name, room);
    if (wrongName !== null) return wrongName;
    const item = items[at];
    // Only a container may take long.
    const inside =
      typeof item === 'object' && item !== null
        ? yield* wrongIn(item, depth + 1, room)
        : wrongAlone(item, depth + 1, room);
    if (inside !== null) return inside;
    if (room.left > room.pauseAt) continue;
    yield SLICE_BYTES;
    room.pauseAt = room.left - SLICE_BYTES;
  }
  return null;
}

/**
 * Looks at every value of parsed JSON once and stops at the first that no soul may hold, so hostile values cost no more than reading `most` bytes. It
 * yields whenever the driver may pause.
 * @param depth how many lists and objects contain the value
 * @returns its size, or the problem
 */
export function* leastSize(value: unknown, depth: number, most: number): Sliced<PartSize | OutOfBounds> {
  const room: SizeSoFar = { left: most, pauseAt: most - SLICE_BYTES, containers: 0, values: 0 };
  const wrong = yield* wrongIn(value, depth, room);
  return wrong ?? { bytes: most - room.left, containers: room.containers, values: room.values };
}
