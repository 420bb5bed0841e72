import { LRUCache } from 'lru-cache';

import { memories } from '../../../projections/memories.js';
import type { RowText } from '../../ports/row-search.js';
import type { EmbeddingDeps } from './embed-lacking.js';

/** How often a text may fail alone before it is passed over. */
export const TEXT_TRIES = 3;
/** Of how many texts it is known how often they failed. */
const FAILING_TEXTS = 10_000;

/**
 * Counts how often texts fail alone. One that fails TEXT_TRIES times is stored as a text from which the embedder makes no vector: it is not asked for
 * it again, and the text is found by its words.
 */
export class FailingTexts {
  readonly #deps: EmbeddingDeps;
  readonly #failures = new LRUCache<string, number>({ max: FAILING_TEXTS });

  constructor(deps: EmbeddingDeps) {
    this.#deps = deps;
  }

  /** @returns those that are passed over from now on @throws what the read models throw */
  async add(failed: readonly RowText[]): Promise<readonly RowText[]> {
    const { rowSearch, embedder } = this.#deps;
    for (const { key } of failed) this.#failures.set(key, (this.#failures.get(key) ?? 0) + 1);
    const over = failed.filter(({ key }) => (this.#failures.get(key) ?? 0) >= TEXT_TRIES);
    if (over.length === 0) return over;
    await rowSearch.setVectors(
      memories,
      embedder.id,
      over.map((row) => ({ ...row, vector: null })),
    );
    for (const { key } of over) this.#failures.delete(key);
    return over;
  }
}
