import { calibrated } from '../../domain/memory/calibrated.js';
import { Rejection } from '../../domain/shared/rejection.js';
import { partitionOf } from '../../domain/shared/partition.js';
import { wordsOf } from '../../domain/shared/words.js';
import type { Embedder } from '../../ports/embedder.js';
import { checkEmbedCall } from '../shared/embed-call.js';
import { unitVector } from '../shared/unit-vector.js';

const DIMENSIONS = 512;
/** Two texts are related if they share about a third of their words. */
const RELATED = 0.3;

/** Counts the words of a text in buckets, so texts with common words lie close together. It knows nothing of meaning. */
export class MemoryEmbedder implements Embedder {
  readonly id: string;
  #disposed = false;

  constructor(id = 'words@1') {
    this.id = id;
  }

  async embed(
    texts: readonly string[],
    { signal }: { readonly urgent: boolean; readonly signal?: AbortSignal },
  ): Promise<readonly (Float32Array | null)[]> {
    checkEmbedCall(texts, signal);
    if (this.#disposed) throw new Rejection('EMBEDDER_UNAVAILABLE', { retryAfter: 1 });
    return texts.map((text) => {
      const buckets = new Float32Array(DIMENSIONS);
      for (const word of wordsOf(text)) {
        const at = partitionOf(word, DIMENSIONS);
        buckets[at] = (buckets[at] ?? 0) + 1;
      }
      return unitVector(buckets);
    });
  }

  score(cosine: number): number {
    return calibrated(cosine, RELATED);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
  }
}
