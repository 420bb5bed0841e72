import { exactSearch, MetricKind } from 'usearch';

import type { Near, VectorSearch } from '../../ports/vector-search.js';

/** usearch reads from the beginning of a buffer, wherever a view of it begins. */
const fromItsBeginning = (numbers: Float32Array): Float32Array =>
  numbers.byteOffset === 0 ? numbers : numbers.slice();

/** More threads are no faster with so few vectors, and would take the processor from other work. */
const THREADS = 1;

/** Compares with the vector instructions of the machine. */
export const nativeSearch: VectorSearch = {
  nearest(matrix, query, count) {
    const [vectors, asked] = [fromItsBeginning(matrix), fromItsBeginning(query)];
    const found = exactSearch(vectors, asked, query.length, count, MetricKind.IP, THREADS);
    const { keys, distances } = found as { readonly keys: BigUint64Array; readonly distances: Float32Array };
    return Array.from(keys, (key, at): Near => ({ row: Number(key), cosine: 1 - (distances[at] ?? 1) }));
  },
};
