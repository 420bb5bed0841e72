import { Rejection } from '../../kernel/base/rejection.js';
import type { OrderRange } from '../../ports/read-models.js';
import type { WordHit } from '../../ports/row-search.js';
import { yieldToEventLoop } from '../../kernel/concurrency/yield-to-event-loop.js';
import { BestCandidates, type Wanted } from './best-candidates.js';
import { byScore, type Candidate, candidatesOf, type Meaning } from './candidates.js';
import type { MindVectors } from './vector-cache.js';

export type PartSearch = {
  /** The meaning of the query; null if it has no meaning to the embedder. */
  readonly meaning: Meaning | null;
  /** The rows that contain its words. Only those without a vector are scored by them. */
  readonly hits: readonly WordHit[];
  readonly range: OrderRange;
  readonly wanted: Wanted;
  readonly signal?: AbortSignal | undefined;
};

/** The embedder has the same name but its vectors have a different length: the stored vectors cannot be compared with it. */
const anotherModel = (): Rejection =>
  new Rejection('EMBEDDER_UNAVAILABLE', {
    message:
      'The embedder produces vectors of a different length from the stored ones: it runs a different model under the same name. Give the model its own name.',
    retryAfter: 60,
  });

/** `wordsOnly`: the keys of rows that were scored by their words alone. */
export type FoundCandidates = { readonly best: readonly Candidate[]; readonly wordsOnly: ReadonlySet<string> };

/**
 * The best rows of a mind, by comparing the query with every vector in the range. Other work runs after each slice.
 * @throws Rejection EMBEDDER_UNAVAILABLE if the vectors are not from this query's embedder; the reason of `signal`; what reading the parts and
 * `wanted.accept` throw
 */
export const searchParts = async (
  parts: MindVectors['parts'],
  { meaning, hits, range, wanted, signal }: PartSearch,
): Promise<FoundCandidates> => {
  const best = new BestCandidates(wanted);
  let left = hits;
  if (meaning !== null) {
    for await (const rows of parts) {
      if (rows.count > 0 && rows.dimensions !== meaning.vector.length) throw anotherModel();
      left = left.filter(({ order }) => !rows.has(order));
      for (const slice of rows.slices(range)) {
        // One more than needed, so that one search usually shows whether the last one has an equal.
        await best.take(candidatesOf(meaning, rows, slice, wanted.limit + 1));
        await yieldToEventLoop();
        signal?.throwIfAborted();
      }
    }
  }
  await best.take([...left].sort(byScore));
  return { best: best.all, wordsOnly: new Set(left.map(({ key }) => key)) };
};
