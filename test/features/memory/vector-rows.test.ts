import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { SLICE_BYTES, VectorRows } from '../../../src/features/memory/vector-rows.js';
import { revisionOrder } from '../../../src/kernel/read-models/row-order.js';

const rowsOf = (revisions: readonly number[], dimensions = 1): VectorRows => {
  const rows = new VectorRows();
  for (const revision of revisions) {
    rows.add({
      key: `k${String(revision)}`,
      order: revisionOrder(revision),
      vector: new Float32Array(dimensions).fill(revision),
    });
  }
  return rows;
};

/** The revisions that the slices of a range hold, by their vectors. */
const within = (rows: VectorRows, above?: number, upTo?: number): readonly number[] =>
  [
    ...rows.slices({
      ...(above === undefined ? {} : { above: revisionOrder(above) }),
      ...(upTo === undefined ? {} : { upTo: revisionOrder(upTo) }),
    }),
  ].flatMap(({ matrix, first }) =>
    Array.from({ length: matrix.length / rows.dimensions }, (_, at) => {
      expect(rows.orderOf(first + at)).toBe(revisionOrder(matrix[at * rows.dimensions] ?? -1));
      expect(rows.keyOf(first + at)).toBe(`k${String(matrix[at * rows.dimensions])}`);
      return matrix[at * rows.dimensions] ?? -1;
    }),
  );

describe('the rows of a mind with vectors', () => {
  it('return a range, above one order and up to another', () => {
    const rows = rowsOf([2, 4, 6, 8]);
    expect(within(rows)).toEqual([2, 4, 6, 8]);
    expect(within(rows, 4)).toEqual([6, 8]);
    expect(within(rows, 3, 6)).toEqual([4, 6]);
    expect([within(rows, 8), within(rows, 0, 1), within(new VectorRows())]).toEqual([[], [], []]);
    expect([rows.has(revisionOrder(6)), rows.has(revisionOrder(5)), rows.lastOrder]).toEqual([
      true,
      false,
      revisionOrder(8),
    ]);
  });

  it('are returned in slices of bounded size, whatever the range', () => {
    const dimensions = SLICE_BYTES / 4 / 3;
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(20), { maxLength: 12 }), fc.nat(20), fc.nat(20), (revisions, above, upTo) => {
        const sorted = [...revisions].sort((one, other) => one - other);
        const rows = rowsOf(sorted, Math.floor(dimensions));
        expect(within(rows, above, upTo)).toEqual(sorted.filter((each) => each > above && each <= upTo));
        for (const { matrix } of rows.slices({})) expect(matrix.byteLength).toBeLessThanOrEqual(SLICE_BYTES);
      }),
      { numRuns: 30 },
    );
  });

  it('keep earlier slices unchanged when rows are added', () => {
    const rows = rowsOf([1, 2, 3]);
    const [before] = rows.slices({});
    for (let revision = 4; revision < 100; revision += 1)
      rows.add({ key: `k${String(revision)}`, order: revisionOrder(revision), vector: new Float32Array([revision]) });
    expect([...(before?.matrix ?? [])]).toEqual([1, 2, 3]);
    expect(within(rows)).toHaveLength(99);
  });

  it('count at least the bytes of their vectors', () => {
    const rows = rowsOf([1, 2, 3, 4, 5], 1_000);
    expect(rows.bytes).toBeGreaterThan(5 * 4_000);
    expect(rows.bytes).toBeLessThan(5 * 4_000 * 5);
  });

  it('exclude vectors of another length, and empty ones', () => {
    const rows = rowsOf([1]);
    rows.add({ key: 'k2', order: revisionOrder(2), vector: new Float32Array([2, 2]) });
    rows.add({ key: 'k3', order: revisionOrder(3), vector: new Float32Array() });
    expect([rows.count, rows.has(revisionOrder(2))]).toEqual([1, false]);
  });
});
