import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { LINEAGE_CURSOR_CHARS, lineageCursor, readLineageCursor } from '../../../src/features/memory/lineage-cursor.js';
import { LINEAGE_MEMORIES, LINEAGE_STEPS } from '../../../src/features/memory/domain/lineage.js';

const revision = fc.nat(10_000_000);
const kin = fc.record({ revision, depth: fc.integer({ min: 1, max: LINEAGE_STEPS }) });
const ascending = fc
  .uniqueArray(kin, { maxLength: 40, selector: (one) => one.revision })
  .map((list) => list.toSorted((one, other) => one.revision - other.revision));

describe('a cursor of a lineage', () => {
  it('gives the position to continue from', () => {
    const place = fc.record({ next: revision, derived: ascending, openAt: fc.array(revision, { maxLength: 9 }) });
    fc.assert(
      fc.property(place, (one) => {
        expect(readLineageCursor(lineageCursor(one))).toEqual(one);
      }),
    );
  });

  it('is short enough for a URL, however much was found', () => {
    const derived = Array.from({ length: LINEAGE_MEMORIES }, (_, n) => ({ revision: 9_999 * (n + 1), depth: 32 }));
    const openAt = Array.from({ length: 256 }, (_, n) => 10_000_000 + n);
    expect(lineageCursor({ next: 10_001_000, derived, openAt }).length).toBeLessThan(LINEAGE_CURSOR_CHARS);
  });

  it.each(['', '1', '1~', '~~', '1~2-~', '1~2.3~', '1~~4', '1~~4-~', 'é~~', '1~2.333-~'])(
    'is refused in any other form: %j',
    (text) => {
      expect(readLineageCursor(text)).toBeNull();
    },
  );
});
