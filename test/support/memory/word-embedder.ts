import { calibrated } from '../../../src/ports/calibrated.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import { partitionOf } from '../../../src/kernel/base/partition.js';
import { wordsOf } from '../../../src/kernel/base/words.js';
import type { Embedder } from '../../../src/ports/embedder.js';
import { checkEmbedCall } from '../../../src/adapters/shared/embed-call.js';
import { unitVector } from '../../../src/adapters/shared/unit-vector.js';

const DIMENSIONS = 512;
/** Two texts are related if they share about a third of their words. */
const RELATED = 0.3;

/** Counts the words of a text in buckets, so texts with common words are close together. It does not understand meaning. */
export class WordEmbedder implements Embedder {
  readonly id = 'words@1';
  #disposed = false;

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
