import { describe, expect, it } from 'vitest';

import { bestByWordsInSlices } from '../../../src/adapters/shared/word-scores.js';
import { revisionOrder } from '../../../src/kernel/read-models/row-order.js';

describe('the best rows by their words', () => {
  it('do not depend on how many slices the search takes', () => {
    const rows = (word: number, count: number) =>
      Array.from({ length: count }, (_, at) => ({
        key: `${String(word)} ${String(at)}`,
        order: revisionOrder(7 * at + word),
      }));
    const both = { key: 'both', order: revisionOrder(0) };
    const steps = bestByWordsInSlices(
      [
        [both, ...rows(1, 6_000)],
        [both, ...rows(2, 6_000)],
      ],
      3,
    );
    let slices = 0;
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) slices += 1;
    expect(step.value.map(({ key }) => key)).toEqual(['both', '2 5999', '1 5999']);
    expect(step.value[0]?.score).toBeCloseTo(1, 9);
    expect(slices).toBeGreaterThan(3);
  });
});
