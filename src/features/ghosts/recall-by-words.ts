import type { MemoryDraft, RecalledMemory } from '../npcs/domain/events.js';
import { wordsOf } from '../../kernel/base/words.js';

/** How many different words are numbered before the numbering restarts. */
const NUMBERED_WORDS = 50_000;

/** Numbers of words, and the numbers of the words in each memory: splitting texts and comparing words costs more than everything else in a step. */
let numbers = new Map<string, number>();
let known = new WeakMap<MemoryDraft, readonly number[]>();

const numberOf = (word: string): number => {
  const number = numbers.get(word) ?? numbers.size;
  numbers.set(word, number);
  return number;
};

const wordsIn = (memory: MemoryDraft): readonly number[] => {
  const before = known.get(memory);
  if (before !== undefined) return before;
  const words = wordsOf(memory.text).map(numberOf);
  known.set(memory, words);
  return words;
};

/** The weight of a word that this many memories contain, as read models weigh it (ports/row-search.ts). */
const weightOf = (memories: number): number => 1 / (1 + Math.log(Math.max(1, memories)));

/**
 * The memories that share most with a query, best first, and newer ones first among equals: the same on every machine, which is not certain for a
 * recall by meaning. `similarity` is the share of the query's words, weighted by rarity.
 */
export const recallByWords = (
  memories: readonly MemoryDraft[],
  { query, limit }: { readonly query: string; readonly limit: number },
): readonly RecalledMemory[] => {
  if (numbers.size > NUMBERED_WORDS) {
    numbers = new Map();
    known = new WeakMap();
  }
  const asked = wordsOf(query).map(numberOf);
  const all = memories.map(wordsIn);
  const held = new Map(asked.map((word) => [word, 0]));
  for (const words of all)
    for (const word of words) {
      const count = held.get(word);
      if (count !== undefined) held.set(word, count + 1);
    }
  const weights = new Map([...held].map(([word, count]) => [word, weightOf(count)]));
  let total = 0;
  for (const weight of weights.values()) total += weight;
  return all
    .map((words, index) => ({ index, score: words.reduce((sum, word) => sum + (weights.get(word) ?? 0), 0) / total }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score || other.index - one.index)
    .slice(0, limit)
    .flatMap(({ index, score }) => {
      const memory = memories[index];
      return memory === undefined ? [] : [{ ...memory, similarity: Math.min(1, score) }];
    });
};
