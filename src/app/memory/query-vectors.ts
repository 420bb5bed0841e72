import { LRUCache } from 'lru-cache';

import { defined } from '../../domain/shared/defined.js';
import type { Embedder } from '../../ports/embedder.js';
import { vectorsUnlessRefused } from './embed-lacking.js';

/** How much memory the vectors of queries may take, in bytes: games ask the same again and again. */
export const QUERY_VECTOR_BYTES = 4 * 1024 * 1024;
/** What one of them takes besides its text and its numbers. */
const ENTRY_BYTES = 200;

/** What a query means, as a vector; null when it has no meaning to the embedder, or the embedder refuses it. @throws what the embedder throws */
export type QueryVector = (query: string, signal?: AbortSignal) => Promise<Float32Array | null>;

/** Remembers the vectors of the queries that were used last. */
export const createQueryVector = (embedder: Embedder, maxBytes = QUERY_VECTOR_BYTES): QueryVector => {
  const known = new LRUCache<string, { readonly vector: Float32Array | null }>({
    maxSize: maxBytes,
    sizeCalculation: ({ vector }, name) => ENTRY_BYTES + 2 * name.length + (vector?.byteLength ?? 0),
  });
  return async (query, signal) => {
    const name = `${embedder.id} ${query}`;
    const found = known.get(name);
    if (found !== undefined) return found.vector;
    const options = { urgent: true, ...defined({ signal }) };
    // A text that is always refused has no vector, so its words must do (contract 3.6).
    const [vector = null] = (await vectorsUnlessRefused(embedder, [query], options)) ?? [];
    known.set(name, { vector });
    return vector;
  };
};
