import type { WordHit } from '../../ports/row-search.js';
import { compareOrders } from '../../domain/shared/row-order.js';

/** The weight of a word that this many rows contain. */
const weightOf = (rows: number): number => 1 / (1 + Math.log(Math.max(1, rows)));

/**
 * As RowSearch.byWords says.
 * @param hits for each word of the query the rows that hold it
 */
export const bestByWords = (
  hits: readonly (readonly Omit<WordHit, 'score'>[])[],
  limit: number,
): readonly WordHit[] => {
  const total = hits.reduce((sum, rows) => sum + weightOf(rows.length), 0);
  const found = new Map<string, { readonly key: string; readonly order: string; score: number }>();
  for (const rows of hits) {
    const share = weightOf(rows.length) / total;
    for (const { key, order } of rows) {
      const before = found.get(key);
      if (before === undefined) found.set(key, { key, order, score: share });
      else before.score += share;
    }
  }
  return [...found.values()]
    .sort((one, other) => other.score - one.score || compareOrders(other.order, one.order))
    .slice(0, limit);
};
