/** A vector of a matrix: its row, from 0, and the cosine of it and the query. */
export type Near = { readonly row: number; readonly cosine: number };

/**
 * Finds the vectors nearest to a query, by comparing it with each of them: exact. The work is done when it returns, and blocks the event loop until
 * then. Callers bound the size of a call (`SLICE_BYTES`, src/features/memory/vector-rows.ts) and yield to others between two calls.
 */
export interface VectorSearch {
  /**
   * The `count` nearest vectors, best first; equally near ones come in any order. The same vector and query have the same cosine in every call.
   * @param matrix vectors of unit length, one after the other, each as long as `query`
   * @param count 1 to the number of vectors
   */
  nearest(matrix: Float32Array, query: Float32Array, count: number): readonly Near[];
}
