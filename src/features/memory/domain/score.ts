/** The inputs from which a memory's score may be computed. */
export type ScoreGrounds = {
  /** How close its meaning is to the query's, calibrated (Embedder.score); null if one of them has no vector. */
  readonly meaning: number | null;
  /** How much of the query's words it contains (RowSearch.byWords); 0 for none. */
  readonly words: number;
  /** 0 to 1. */
  readonly importance: number;
  readonly ageMs: number;
};

/** `score` is 0 to 1. `parts` are the numbers from which it was computed. */
export type Score = { readonly score: number; readonly parts: Readonly<Record<string, number>> };

/**
 * How well a memory answers a query: by its meaning, and by its words if there is no vector yet. Combining meaning with words, importance and age
 * found at best one more held-back question of 61, which is chance (docs/explanation/recall.md), so they do not count.
 */
export const scoreOf = ({ meaning, words }: ScoreGrounds): Score =>
  meaning === null ? { score: words, parts: { words } } : { score: meaning, parts: { meaning, words } };
