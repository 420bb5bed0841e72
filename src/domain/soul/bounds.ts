import type { Json } from '../shared/json.js';

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

/**
 * Looks at every value of parsed JSON once and stops at the first that no soul may hold, so hostile values cost no more than reading MAX_SOUL_BYTES.
 * A value is counted as the fewest bytes that it can take in JCS; the exact size is known only once the parts are written.
 * @returns what is wrong, or null
 */
export const outOfBounds = (document: unknown): 'malformed' | 'too_large' | null => {
  let left = MAX_SOUL_BYTES;
  const inspectText = (text: string): 'malformed' | 'too_large' | null => {
    left -= text.length + 2;
    return left < 0 ? 'too_large' : halfPair.test(text) ? 'malformed' : null;
  };
  const inspect = (value: unknown, depth: number): 'malformed' | 'too_large' | null => {
    if (typeof value === 'string') return inspectText(value);
    left -= 1;
    if (left < 0) return 'too_large';
    if (typeof value === 'number') return Number.isFinite(value) ? null : 'malformed';
    if (typeof value === 'boolean' || value === null) return null;
    if (typeof value !== 'object') return 'malformed';
    if (depth === MAX_SOUL_DEPTH) return 'too_large';
    if (Array.isArray(value)) {
      for (const item of value as readonly Json[]) {
        const wrong = inspect(item, depth + 1);
        if (wrong !== null) return wrong;
      }
      return null;
    }
    for (const [name, member] of Object.entries(value)) {
      const wrong = name === '__proto__' ? 'malformed' : (inspectText(name) ?? inspect(member, depth + 1));
      if (wrong !== null) return wrong;
    }
    return null;
  };
  return inspect(document, 0);
};
