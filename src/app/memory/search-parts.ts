import type { OrderRange } from '../../ports/read-models.js';
import type { WordHit } from '../../ports/row-search.js';
import { nextTurn } from '../pacing/next-turn.js';
import { BestCandidates, type Wanted } from './best-candidates.js';
import { byScore, type Candidate, candidatesOf, type Meaning } from './candidates.js';
import type { MindVectors } from './vector-cache.js';

export type PartSearch = {
  /** What the query means; null when it has no meaning to the embedder. */
  readonly meaning: Meaning | null;
  /** The rows that hold its words. Only those without a vector take part by them. */
  readonly hits: readonly WordHit[];
  readonly range: OrderRange;
  readonly wanted: Wanted;
  readonly signal?: AbortSignal | undefined;
};

/** `wordsOnly`: the keys of rows that took part by their words alone. */
export type FoundCandidates = { readonly best: readonly Candidate[]; readonly wordsOnly: ReadonlySet<string> };

/**
 * The best rows of a mind, by comparing the query with every vector in the range. Other work runs after each slice.
 * @throws the reason of `signal`; what reading the parts and `wanted.accept` throw
 */
export const searchParts = async (
  parts: MindVectors['parts'],
  { meaning, hits, range, wanted, signal }: PartSearch,
): Promise<FoundCandidates> => {
  const best = new BestCandidates(wanted);
  let left = hits;
  if (meaning !== null) {
    for await (const rows of parts) {
      left = left.filter(({ order }) => !rows.has(order));
      if (rows.dimensions !== meaning.vector.length) continue;
      for (const slice of rows.slices(range)) {
        // One more than wanted, so that one search usually tells whether the last one has an equal.
        await best.take(candidatesOf(meaning, rows, slice, wanted.limit + 1));
        await nextTurn();
        signal?.throwIfAborted();
      }
    }
  }
  await best.take([...left].sort(byScore));
  return { best: best.all, wordsOnly: new Set(left.map(({ key }) => key)) };
};
