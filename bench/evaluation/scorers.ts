import { bestByWordsInSlices } from '../../src/adapters/shared/word-scores.js';
import { scoreOf } from '../../src/features/memory/domain/score.js';
import { wordsOf } from '../../src/kernel/base/words.js';
import { QUERY_WORDS } from '../../src/ports/row-search.js';
import type { EvaluatedMemory } from './minds.js';

/**
 * The grounds on which a memory may be scored. `meaning` is calibrated; `words` is the score of RowSearch.byWords; `bm25` is at most 1, for the best
 * memory.
 */
export type Grounds = {
  readonly meaning: number;
  readonly words: number;
  readonly bm25: number;
  readonly importance: number;
  readonly daysAgo: number;
};

/** A way to score memories. */
export type Scorer = { readonly name: string; readonly score: (grounds: Grounds) => number };

const DAY_MS = 86_400_000;
/** After how many days a memory counts half as recent. */
const HALF_LIFE_DAYS = 30;
const recency = ({ daysAgo }: Grounds): number => 0.5 ** (daysAgo / HALF_LIFE_DAYS);
const mixed = (one: number, other: number, share: number): number => (1 - share) * one + share * other;
/** Reduces the distance to 1 by a share of the other score, so that no score gets lower. */
const lifted = (one: number, other: number, share: number): number => one + share * other * (1 - one);
const shares = [0.1, 0.2, 0.3];

/** The compared scorers: the product's own first. */
export const scorers: readonly Scorer[] = [
  {
    name: 'the product',
    score: ({ meaning, words, importance, daysAgo }) =>
      scoreOf({ meaning, words, importance, ageMs: daysAgo * DAY_MS }).score,
  },
  { name: 'meaning', score: ({ meaning }) => meaning },
  { name: 'words', score: ({ words }) => words },
  { name: 'BM25', score: ({ bm25 }) => bm25 },
  ...shares.flatMap((share): readonly Scorer[] => [
    { name: `meaning, words ${String(share)}`, score: ({ meaning, words }) => mixed(meaning, words, share) },
    { name: `meaning, lifted by words ${String(share)}`, score: ({ meaning, words }) => lifted(meaning, words, share) },
    { name: `meaning, BM25 ${String(share)}`, score: ({ meaning, bm25 }) => mixed(meaning, bm25, share) },
    {
      name: `meaning, importance ${String(share)}`,
      score: ({ meaning, importance }) => mixed(meaning, importance, share),
    },
    { name: `meaning, recency ${String(share)}`, score: (grounds) => mixed(grounds.meaning, recency(grounds), share) },
  ]),
];

/** The share of the query's words that each memory holds, weighed as in the read models. */
export const wordScores = (query: string, memories: readonly EvaluatedMemory[]): ReadonlyMap<string, number> => {
  const rows = memories.map(({ id, text }) => ({ key: id, order: id, words: new Set(wordsOf(text)) }));
  const hits = wordsOf(query)
    .slice(0, QUERY_WORDS)
    .map((word) => rows.filter(({ words }) => words.has(word)));
  const best = bestByWordsInSlices(hits, memories.length);
  for (;;) {
    const { done, value } = best.next();
    if (done === true) return new Map(value.map(({ key, score }) => [key, score]));
  }
};

/** Okapi BM25 with its usual constants, divided by the best score. */
export const bm25Scores = (query: string, memories: readonly EvaluatedMemory[]): ReadonlyMap<string, number> => {
  const [k1, b] = [1.2, 0.75];
  const texts = memories.map(({ id, text }) => ({
    id,
    words: [...(text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [])] as readonly string[],
  }));
  const meanLength = texts.reduce((sum, { words }) => sum + words.length, 0) / texts.length;
  const scored = texts.map(({ id, words }) => {
    const score = wordsOf(query).reduce((sum, asked) => {
      const holding = texts.filter((text) => text.words.includes(asked)).length;
      const count = words.filter((word) => word === asked).length;
      const weight = Math.log(1 + (texts.length - holding + 0.5) / (holding + 0.5));
      return sum + (weight * count * (k1 + 1)) / (count + k1 * (1 - b + (b * words.length) / meanLength));
    }, 0);
    return [id, score] as const;
  });
  const best = Math.max(...scored.map(([, score]) => score));
  return new Map(scored.map(([id, score]) => [id, best === 0 ? 0 : score / best]));
};
