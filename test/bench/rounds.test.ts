import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { measurePair, quantile, ratioOf, spreadOf } from '../../bench/rounds.js';

describe('the rounds of a measurement', () => {
  it('start alternately with the reference and with ours', async () => {
    const order: string[] = [];
    const measure = (name: string) => async () => {
      order.push(name);
      return name;
    };
    for (const round of [0, 1, 2]) {
      expect(await measurePair(round, measure('ours'), measure('reference'))).toEqual({
        ours: 'ours',
        reference: 'reference',
      });
    }
    expect(order).toEqual(['reference', 'ours', 'ours', 'reference', 'reference', 'ours']);
  });

  it('are summarised by the median of their ratios, not by the ratio of their medians', () => {
    const pairs = [
      { ours: 1, reference: 10 },
      { ours: 6, reference: 10 },
      { ours: 90, reference: 100 },
    ];
    expect(ratioOf(pairs)).toEqual({ median: 0.6, min: 0.1, max: 0.9 });
  });

  it('are refused when there are none to summarise', () => {
    expect(() => spreadOf([])).toThrow(RangeError);
  });
});

describe('a quantile', () => {
  it('is the smallest measured value that at least the requested share of the values does not exceed', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ noNaN: true }), { minLength: 1 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (values, share) => {
          const sorted = [...values].sort((a, b) => a - b);
          const found = quantile(sorted, share);
          expect(sorted).toContain(found);
          expect(sorted.filter((value) => value <= found).length).toBeGreaterThanOrEqual(share * sorted.length);
          expect(sorted.filter((value) => value < found).length).toBeLessThanOrEqual(share * sorted.length);
        },
      ),
    );
  });
});
