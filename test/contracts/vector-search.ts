import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { VectorSearch } from '../../src/ports/vector-search.js';

const unit = (numbers: readonly number[]): Float32Array => {
  const length = Math.hypot(...numbers);
  return Float32Array.from(numbers, (each) => each / length);
};
const flat = (vectors: readonly Float32Array[]): Float32Array =>
  Float32Array.from(vectors.flatMap((each) => [...each]));

/** The promises of ports/vector-search.ts, for every adapter. */
export const vectorSearchContract = (name: string, search: VectorSearch): void => {
  describe(`${name}, as exact search`, () => {
    const matrix = flat([unit([1, 0]), unit([0, 1]), unit([1, 1]), unit([-1, 0])]);

    it('returns the nearest vectors with their cosines, best first', () => {
      const found = search.nearest(matrix, unit([2, 0]), 3);
      expect(found.map(({ row }) => row)).toEqual([0, 2, 1]);
      expect(found.map(({ cosine }) => cosine.toFixed(5))).toEqual(['1.00000', '0.70711', '0.00000']);
    });

    it('accepts views that begin anywhere in their buffers', () => {
      const query = new Float32Array([9, ...unit([0, 1])]).subarray(1);
      const [first] = search.nearest(matrix.subarray(2), query, 1);
      expect([first?.row, first?.cosine.toFixed(5)]).toEqual([0, '1.00000']);
      expect(search.nearest(matrix.subarray(0, 4), query, 2).map(({ row }) => row)).toEqual([1, 0]);
    });

    it('compares with every vector, however many exist and however many are requested', () => {
      const vector = (dimensions: number): fc.Arbitrary<Float32Array> =>
        fc
          .array(fc.integer({ min: -9, max: 9 }), { minLength: dimensions, maxLength: dimensions })
          .filter((numbers) => numbers.some((each) => each !== 0))
          .map(unit);
      const asked = fc.integer({ min: 1, max: 40 }).chain((dimensions) =>
        fc.record({
          vectors: fc.array(vector(dimensions), { minLength: 1, maxLength: 60 }),
          query: vector(dimensions),
          wanted: fc.integer({ min: 1, max: 60 }),
        }),
      );
      fc.assert(
        fc.property(asked, ({ vectors, query, wanted }) => {
          const count = Math.min(wanted, vectors.length);
          const found = search.nearest(flat(vectors), query, count);
          const cosines = vectors.map((each) => each.reduce((sum, value, at) => sum + value * (query[at] ?? 0), 0));
          const best = [...cosines].sort((one, other) => other - one).slice(0, count);
          expect(new Set(found.map(({ row }) => row)).size).toBe(count);
          for (const [at, { row, cosine }] of found.entries()) {
            expect(cosine).toBeCloseTo(cosines[row] ?? NaN, 4);
            expect(cosine).toBeCloseTo(best[at] ?? NaN, 4);
          }
        }),
      );
    });

    it('returns the same cosine for the same vector, however many are requested', () => {
      const many = flat(Array.from({ length: 500 }, (_, at) => unit([at % 7, 3, at, 1 / (at + 1)])));
      const query = unit([1, 2, 3, 4]);
      const all = new Map(search.nearest(many, query, 500).map(({ row, cosine }) => [row, cosine]));
      for (const { row, cosine } of search.nearest(many, query, 9)) expect(all.get(row)).toBe(cosine);
    });
  });
};
