import type { VectorSearch } from '../../ports/vector-search.js';
import type { VectorRowsView, VectorSlice } from './vector-rows.js';

/** A row that may answer a query. Its order is its sort key among the rows of its mind. */
export type Candidate = { readonly key: string; readonly order: string; readonly score: number };

/** Best first; the newest first among equally good ones. */
export const byScore = (one: Candidate, other: Candidate): number =>
  other.score - one.score || (one.order < other.order ? 1 : -1);

/** Each further search looks for this many times as many rows. */
const WIDER = 4;

/** The meaning that rows are compared with. `score` rises with the cosine. */
export type Meaning = {
  readonly search: VectorSearch;
  readonly vector: Float32Array;
  readonly score: (cosine: number) => number;
};

/**
 * The rows of one slice, best first. They are found on demand: first `count` of them, then four times as many. Each search compares the entire slice,
 * so there are few searches.
 */
export function* candidatesOf(
  { search, vector, score }: Meaning,
  rows: Pick<VectorRowsView, 'keyOf' | 'orderOf'>,
  { matrix, first }: VectorSlice,
  count: number,
): Generator<Candidate, void, undefined> {
  const all = matrix.length / vector.length;
  let given = 0;
  for (let wanted = Math.min(all, count); given < all; wanted = Math.min(all, wanted * WIDER)) {
    const found = search
      .nearest(matrix, vector, wanted)
      .map(({ row, cosine }) => ({
        key: rows.keyOf(first + row),
        order: rows.orderOf(first + row),
        score: score(cosine),
      }))
      .sort(byScore);
    // Newer rows that are as good as the last one may be missing, so those wait for the next search.
    const last = found.at(-1)?.score ?? 0;
    const sure = wanted === all ? found.length : found.findIndex((each) => each.score === last);
    while (given < sure) yield found[given++] as Candidate;
  }
}
