import { LRUCache } from 'lru-cache';

import { memories } from '../../../projections/memories.js';
import { EMBED_TEXTS, type Embedder, TextRefused } from '../../ports/embedder.js';
import { untilFull } from '../../kernel/base/page-size.js';
import type { RowSearch, RowText } from '../../ports/row-search.js';

/** How many bytes of text one batch holds, if it holds several texts: some seconds of work for a model on one core. What is done is stored after it. */
const BATCH_BYTES = 16 * 1024;
/** Any embedder that works can take this text. */
const PROBE = 'The sun rises.';

export type EmbeddingDeps = { readonly rowSearch: RowSearch; readonly embedder: Pick<Embedder, 'id' | 'embed'> };

/** `urgent`: somebody waits. */
export type EmbedOptions = { readonly urgent: boolean; readonly signal?: AbortSignal };

/** `failed`: texts that were refused alone while the embedder took another. Both are empty when no text lacks a vector. */
export type EmbedOutcome = { readonly embedded: readonly RowText[]; readonly failed: readonly RowText[] };

/**
 * Embeds texts of memories that have no vector of this embedder: at most EMBED_TEXTS, and near BATCH_BYTES. If it is done again after a crash, at most this batch is
 * embedded twice.
 * @throws what the embedder and the read models throw; not because of single texts
 */
export const embedLacking = async (deps: EmbeddingDeps, options: EmbedOptions): Promise<EmbedOutcome> => {
  const { rowSearch, embedder } = deps;
  const texts = await rowSearch.withoutVector(memories, { embedder: embedder.id, limit: EMBED_TEXTS });
  const batch = [...untilFull(texts, ({ text }) => Buffer.byteLength(text), BATCH_BYTES)];
  return batch.length === 0 ? { embedded: [], failed: [] } : embedTexts(deps, batch, options);
};

/**
 * Embeds these texts and stores their vectors. Texts that are refused together are halved until the refused one stands alone.
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

/** Null when one of the texts is refused by an embedder that works. @throws what the embedder throws when it does not */
export const vectorsUnlessRefused = async (
  embedder: Pick<Embedder, 'embed'>,
  texts: readonly string[],
  options: EmbedOptions,
): Promise<readonly (Float32Array | null)[] | null> => {
  try {
    return await embedder.embed(texts, options);
  } catch (error) {
    if (!(error instanceof TextRefused)) throw error;
    // A server that refuses every text, because of its settings or ours, is no reason to blame these.
    await embedder.embed([PROBE], options);
    return null;
  }
};

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
