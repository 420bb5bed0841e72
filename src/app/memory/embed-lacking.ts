import { memories } from '../../../projections/memories.js';
import { EMBED_TEXTS, type Embedder } from '../../ports/embedder.js';
import type { RowSearch, RowText } from '../../ports/row-search.js';

export type EmbeddingDeps = { readonly rowSearch: RowSearch; readonly embedder: Embedder };

/** `stream`: of this mind alone. `urgent`: somebody waits. */
export type TextsLacking = { readonly stream?: string; readonly urgent: boolean; readonly signal?: AbortSignal };

/**
 * Embeds texts of memories that have no vector of this embedder: at most EMBED_TEXTS. If it is done again after a crash, at most this batch is
 * embedded twice.
 * @returns what was embedded; nothing when no text lacks a vector
 * @throws what the embedder and the read models throw
 */
export const embedLacking = async (
  { rowSearch, embedder }: EmbeddingDeps,
  { stream, ...options }: TextsLacking,
): Promise<readonly RowText[]> => {
  const of = stream === undefined ? {} : { stream };
  const texts = await rowSearch.withoutVector(memories, { embedder: embedder.id, limit: EMBED_TEXTS, ...of });
  if (texts.length === 0) return texts;
  const vectors = await embedder.embed(
    texts.map(({ text }) => text),
    options,
  );
  await rowSearch.setVectors(
    memories,
    embedder.id,
    texts.map((row, at) => ({ ...row, vector: vectors[at] ?? null })),
  );
  return texts;
};
