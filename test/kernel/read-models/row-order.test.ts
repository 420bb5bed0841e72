import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { compareOrders } from '../../../src/kernel/read-models/row-order.js';

describe('the order of rows', () => {
  it('is the order of their UTF-8 bytes', () => {
    const text = fc.string({
      unit: fc.constantFrom('0', '9', 'a', '\u00e9', '\ud7ff', '\ue000', '\uffff', '\u{10000}'),
      maxLength: 6,
    });
    fc.assert(
      fc.property(text, text, (one, other) => {
        const bytes = Buffer.compare(Buffer.from(one), Buffer.from(other));
        expect(Math.sign(compareOrders(one, other))).toBe(bytes);
      }),
      { numRuns: 1_000 },
    );
  });
});
