import { LRUCache } from 'lru-cache';

import { memories } from '../../../projections/memories.js';
import { type Embedder, TextRefused } from '../../ports/embedder.js';
import type { RowSearch, RowText } from '../../ports/row-search.js';

/** A text that any working embedder can embed. */
export const PROBE = 'The sun rises.';

export type EmbeddingDeps = { readonly rowSearch: RowSearch; readonly embedder: Pick<Embedder, 'id' | 'embed'> };

/** `urgent`: a request is waiting. */
export type EmbedOptions = { readonly urgent: boolean; readonly signal?: AbortSignal };

/** `failed`: texts that were refused alone while the embedder accepted another. Both are empty if no text lacks a vector. */
export type EmbedOutcome = { readonly embedded: readonly RowText[]; readonly failed: readonly RowText[] };

/**
 * Embeds these texts and stores their vectors. Texts that are refused together are halved until the refused one is alone.
 * @throws what the embedder and the read models throw; not because of single texts
 */
export const embedTexts = async (
  deps: EmbeddingDeps,
  texts: readonly RowText[],
  options: EmbedOptions,
): Promise<EmbedOutcome> => {
  const { rowSearch, embedder } = deps;
  const vectors = await vectorsUnlessRefused(
    embedder,
    texts.map(({ text }) => text),
    options,
  );
  if (vectors !== null) {
    const rows = texts.map((row, at) => ({ ...row, vector: vectors[at] ?? null }));
    await rowSearch.setVectors(memories, embedder.id, rows);
    return { embedded: texts, failed: [] };
  }
  if (texts.length === 1) return { embedded: [], failed: texts };
  const half = Math.ceil(texts.length / 2);
  const first = await embedTexts(deps, texts.slice(0, half), options);
  const second = await embedTexts(deps, texts.slice(half), options);
  return { embedded: [...first.embedded, ...second.embedded], failed: [...first.failed, ...second.failed] };
};

/** Null if a working embedder refuses one of the texts. @throws what the embedder throws if it does not work */
export const vectorsUnlessRefused = async (
  embedder: Pick<Embedder, 'embed'>,
  texts: readonly string[],
  options: EmbedOptions,
): Promise<readonly (Float32Array | null)[] | null> => {
  try {
    return await embedder.embed(texts, options);
  } catch (error) {
    if (!(error instanceof TextRefused)) throw error;
    // If a server refuses every text, because of its settings or Anima's, these texts are not to blame.
    await embedder.embed([PROBE], { ...options, fresh: true });
    return null;
  }
};

/** How often a text may fail alone before it is skipped. */
export const TEXT_TRIES = 3;
/** For how many texts failures are counted. */
const FAILING_TEXTS = 10_000;

/**
 * Counts how often texts fail alone. One that fails TEXT_TRIES times is stored as a text without a vector: it is not embedded again, and is found by
 * its words.
 */
export class FailingTexts {
  readonly #deps: EmbeddingDeps;
  readonly #failures = new LRUCache<string, number>({ max: FAILING_TEXTS });

  constructor(deps: EmbeddingDeps) {
    this.#deps = deps;
  }

  /** @returns the texts that are skipped from now on @throws what the read models throw */
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
