import { describe, expect, it } from 'vitest';

import { DIMENSIONS, memoryText, randomVectors } from '../../bench/memory/texts.js';

describe('the memories of the measurements', () => {
  it('are all different', () => {
    expect(new Set(Array.from({ length: 5_000 }, (_, index) => memoryText(index))).size).toBe(5_000);
  });

  it('have vectors of unit length, the same for the same seed', () => {
    const numbers = randomVectors(3, 7);
    expect(numbers).toEqual(randomVectors(3, 7));
    expect(numbers).not.toEqual(randomVectors(3, 8));
    expect(numbers).toHaveLength(3 * DIMENSIONS);
    for (let row = 0; row < 3; row += 1) {
      const vector = numbers.subarray(row * DIMENSIONS, (row + 1) * DIMENSIONS);
      expect(vector.reduce((sum, number) => sum + number ** 2, 0)).toBeCloseTo(1, 5);
    }
  });
});
