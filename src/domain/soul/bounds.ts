import type { Sliced } from '../rules/hold-patterns.js';

/** What a soul holds at most, in bytes of its JCS form (contract 8.7). */
export const MAX_SOUL_BYTES = 15_728_640;
export const MAX_SOUL_MEMORIES = 100_000;
/** Of a part, in bytes of its JCS form: an import records each in one event, which holds 900,000 bytes (contract 1.2). */
export const MAX_PART_BYTES = 786_432;
/** How many souls a soul remembers that it came from. */
export const MAX_SOUL_LINKS = 64;
/** Nesting, the document itself counting as one: a request takes 32 levels (contract 1.2), and an import wraps the document in two. */
export const MAX_SOUL_DEPTH = 30;

const halfPair = /\p{Surrogate}/u;
/** How many bytes are counted between two pauses: a millisecond or two of work. */
const SLICE_BYTES = 65_536;

/** Why no soul holds a value. */
export type OutOfBounds = 'malformed' | 'too_large';
/** How many bytes are left, and with how many left it is time for a pause. */
type BytesLeft = { left: number; pauseAt: number };

const wrongText = (text: string, room: BytesLeft): OutOfBounds | null => {
  room.left -= text.length + 2;
  return room.left < 0 ? 'too_large' : halfPair.test(text) ? 'malformed' : null;
};

/** What is wrong with a value, whatever is in it. */
const wrongAlone = (value: unknown, depth: number, room: BytesLeft): OutOfBounds | null => {
  if (typeof value === 'string') return wrongText(value, room);
  room.left -= 1;
  if (room.left < 0) return 'too_large';
  if (typeof value === 'number') return Number.isFinite(value) ? null : 'malformed';
  if (typeof value === 'boolean' || value === null) return null;
  if (typeof value !== 'object') return 'malformed';
  return depth === MAX_SOUL_DEPTH ? 'too_large' : null;
};

function* wrongIn(value: unknown, depth: number, room: BytesLeft): Sliced<OutOfBounds | null> {
  const wrong = wrongAlone(value, depth, room);
  if (wrong !== null || typeof value !== 'object' || value === null) return wrong;
  const names = Array.isArray(value) ? null : Object.keys(value);
  const items = names === null ? (value as readonly unknown[]) : (Object.values(value) as readonly unknown[]);
  for (let at = 0; at < items.length; at += 1) {
    const name = names?.[at];
    const wrongName = name === '__proto__' ? 'malformed' : name === undefined ? null : wrongText(name, room);
    if (wrongName !== null) return wrongName;
    const item = items[at];
    // Only what holds something may take long.
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
 * @param depth how many lists and objects the value stands in
 * @returns the fewest bytes that it can take in JCS, or what is wrong; the exact size is known only once it is written
 */
export function* fewestBytes(value: unknown, depth: number, most: number): Sliced<number | OutOfBounds> {
  const room = { left: most, pauseAt: most - SLICE_BYTES };
  return (yield* wrongIn(value, depth, room)) ?? most - room.left;
}
