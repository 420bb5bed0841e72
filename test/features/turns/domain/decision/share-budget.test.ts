import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { shareOut } from '../../../../../src/features/turns/domain/decision/share-budget.js';

describe('the room of a budget', () => {
  it('goes to each part by its share, and what one does not use to the others [13.1c]', () => {
    const of = (...needs: readonly number[]) => needs.map((need, at) => ({ need, share: [25, 25, 50][at] ?? 0 }));
    expect(shareOut(100, of(10, 20, 30))).toEqual([10, 20, 30]);
    expect(shareOut(100, of(90, 90, 90))).toEqual([25, 25, 50]);
    expect(shareOut(100, of(10, 90, 90))).toEqual([10, 30, 60]);
    expect(shareOut(100, of(90, 90, 5))).toEqual([47, 47, 5]);
    expect(shareOut(0, of(5, 0, 5))).toEqual([0, 0, 0]);
    expect(shareOut(-7, of(5, 5, 5))).toEqual([0, 0, 0]);
  });

  it('is never exceeded, and no part gets more than it needs', () => {
    const asking = fc.record({ need: fc.nat(1_000), share: fc.integer({ min: 1, max: 50 }) });
    fc.assert(
      fc.property(fc.nat(3_000), fc.array(asking, { maxLength: 8 }), (room, asked) => {
        const given = shareOut(room, asked);
        expect(given.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(room);
        given.forEach((one, at) => expect(one).toBeLessThanOrEqual(asked[at]?.need ?? 0));
      }),
    );
  });
});
