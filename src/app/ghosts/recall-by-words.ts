import type { MemoryDraft, RecalledMemory } from '../../domain/npc/events.js';
import { wordsOf } from '../../domain/shared/words.js';

const known = new WeakMap<MemoryDraft, ReadonlySet<string>>();

/** Taking a text apart costs more than everything else here, and a memory never changes. */
const wordsIn = (memory: MemoryDraft): ReadonlySet<string> => {
  const before = known.get(memory);
  if (before !== undefined) return before;
  const words = new Set(wordsOf(memory.text));
  known.set(memory, words);
  return words;
};

/** The weight of a word that so many memories hold, as read models weigh them (ports/row-search.ts). */
const weightOf = (memories: number): number => 1 / (1 + Math.log(Math.max(1, memories)));

/**
 * The memories that share most with a query, the best first, newer ones before older ones that are as good: the same on every machine, which a
 * recall by meaning need not be. `similarity` is the share of the query's words, weighed by how rare they are.
 */
export const recallByWords = (
  memories: readonly MemoryDraft[],
  { query, limit }: { readonly query: string; readonly limit: number },
): readonly RecalledMemory[] => {
  const holding = wordsOf(query).map((word) =>
    memories.flatMap((memory, index) => (wordsIn(memory).has(word) ? [index] : [])),
  );
  const total = holding.reduce((sum, held) => sum + weightOf(held.length), 0);
  const scores = new Map<number, number>();
  for (const held of holding)
    for (const index of held) scores.set(index, (scores.get(index) ?? 0) + weightOf(held.length) / total);
  return [...scores]
    .sort(([one, score], [other, best]) => best - score || other - one)
    .slice(0, limit)
    .flatMap(([index, similarity]) => {
      const memory = memories[index];
      return memory === undefined ? [] : [{ ...memory, similarity: Math.min(1, similarity) }];
    });
};
