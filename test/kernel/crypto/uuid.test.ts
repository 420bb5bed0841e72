import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { derivedUuid } from '../../../src/kernel/crypto/uuid.js';

/** The last instant that 48 bits of milliseconds hold, in the year 10889. */
const LAST_MS = 2 ** 48 - 1;

describe('a derived id', () => {
  it('is a UUID of version 8 with the variant of RFC 9562, in lower case, and begins with its time', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: LAST_MS }), fc.string(), (timeMs, content) => {
        const id = derivedUuid(timeMs, content);
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(timeMs);
      }),
    );
  });

  it('is the same for the same time and content, and differs for others', () => {
    fc.assert(
      fc.property(fc.nat(), fc.string(), fc.nat(), fc.string(), (timeMs, content, otherMs, other) => {
        const same = timeMs === otherMs && content === other;
        expect(derivedUuid(timeMs, content) === derivedUuid(otherMs, other)).toBe(same);
      }),
    );
    expect(derivedUuid(5, 'a')).toBe(derivedUuid(5, 'a'));
  });

  it('accepts times before 1970 and fractions of milliseconds', () => {
    expect(derivedUuid(-1, 'a')).toBe(derivedUuid(0, 'a'));
    expect(derivedUuid(7.9, 'a')).toBe(derivedUuid(7, 'a'));
  });
});
