import type { WordHit } from '../../ports/row-search.js';
import { compareOrders } from '../../kernel/read-models/row-order.js';

/** The weight of a word that this many rows contain. */
const weightOf = (rows: number): number => 1 / (1 + Math.log(Math.max(1, rows)));

/** How many rows are sorted in one slice: a few milliseconds. */
const SORTED_ROWS = 4_000;

type RowByWords = { readonly key: string; readonly order: string; score: number };

const better = (one: RowByWords, other: RowByWords): number =>
  other.score - one.score || compareOrders(other.order, one.order);

/**
 * As specified by RowSearch.byWords, in slices: other work may run between two steps.
 * @param hits for each word of the query the rows that hold it
 */
export function* bestByWordsInSlices(
  hits: readonly (readonly Omit<WordHit, 'score'>[])[],
  limit: number,
): Generator<void, readonly WordHit[], undefined> {
  const total = hits.reduce((sum, rows) => sum + weightOf(rows.length), 0);
  const found = new Map<string, RowByWords>();
  for (const rows of hits) {
    const share = weightOf(rows.length) / total;
    for (const { key, order } of rows) {
      const before = found.get(key);
      if (before === undefined) found.set(key, { key, order, score: share });
      else before.score += share;
    }
    yield;
  }
  const all = [...found.values()];
  let best: readonly RowByWords[] = [];
  for (let from = 0; from < all.length; from += SORTED_ROWS) {
    best = [...best, ...all.slice(from, from + SORTED_ROWS)].sort(better).slice(0, limit);
    yield;
  }
  return best;
}
