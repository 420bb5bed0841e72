import type { Near, VectorSearch } from '../../ports/vector-search.js';

const dot = (matrix: Float32Array, from: number, query: Float32Array): number =>
  query.reduce((sum, value, at) => sum + value * (matrix[from + at] ?? 0), 0);

/** Compares one number after the other, and sorts all: the definition of this port. */
export const plainSearch: VectorSearch = {
  nearest: (matrix, query, count) =>
    Array.from({ length: matrix.length / query.length }, (_, row): Near => ({
      row,
      cosine: dot(matrix, row * query.length, query),
    }))
      .sort((one, other) => other.cosine - one.cosine)
      .slice(0, count),
};
