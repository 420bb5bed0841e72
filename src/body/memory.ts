import type { FoundMemory, MemoryToStore } from './protocol.js';

/** The body's own vector memory: an `IdentifyActor … QueryVector` turn recalls from it, and `Finalize.memoryStore` is stored in it. */
export interface BodyMemory {
  /** The best `limit` memories of one NPC at or above `threshold` (0..1), best first, ties by newest. */
  recall(
    npcId: string,
    query: { readonly query: string; readonly limit: number; readonly threshold: number },
  ): Promise<readonly FoundMemory[]>;
  store(npcId: string, memories: readonly MemoryToStore[]): Promise<void>;
}

type Words = ReadonlyMap<string, number>;
type Kept = { readonly memory: MemoryToStore; readonly words: Words };

const DEFAULT_MAX_PER_NPC = 1000;
const IGNORED = new Set(
  'a an and are as at be but by do for from had has have he her his i in is it its me my not of on or she so that the their them they this to was we were what who will with you your'.split(
    ' ',
  ),
);

const wordsOf = (text: string): Words => {
  const words = new Map<string, number>();
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])
    if (!IGNORED.has(word)) words.set(word, (words.get(word) ?? 0) + 1);
  return words;
};

const dot = (a: Words, b: Words): number => {
  let sum = 0;
  for (const [word, count] of a) sum += count * (b.get(word) ?? 0);
  return sum;
};

/**
 * How many words two texts share, 0..1: the square root of the cosine of their word counts. Texts that share a quarter of their words reach the usual
 * threshold of 0.5. It ignores synonyms.
 */
const wordOverlap = (a: Words, b: Words): number => {
  const norm = Math.sqrt(dot(a, a) * dot(b, b));
  return norm === 0 ? 0 : Math.min(1, Math.sqrt(dot(a, b) / norm));
};

/**
 * A memory that compares words, not meanings. It is deterministic, needs no model, and is lost with the process. It suffices for tests and a demo; a
 * game uses its vector database. Beyond `maxPerNpc` the oldest memory is dropped. The same text is kept once.
 */
export const createWordMemory = (options: { readonly maxPerNpc?: number } = {}): BodyMemory => {
  const maxPerNpc = options.maxPerNpc ?? DEFAULT_MAX_PER_NPC;
  const minds = new Map<string, Kept[]>();
  return {
    recall: (npcId, { query, limit, threshold }) => {
      const asked = wordsOf(query);
      const found = (minds.get(npcId) ?? [])
        .map(({ memory, words }, age) => ({ memory, age, similarity: wordOverlap(asked, words) }))
        .filter(({ similarity }) => similarity > 0 && similarity >= threshold)
        .sort((a, b) => b.similarity - a.similarity || b.age - a.age)
        .slice(0, limit);
      return Promise.resolve(found.map(({ memory, similarity }) => ({ ...memory, similarity })));
    },
    store: (npcId, memories) => {
      const texts = new Set(memories.map(({ text }) => text));
      const kept = (minds.get(npcId) ?? []).filter(({ memory }) => !texts.has(memory.text));
      for (const memory of memories) kept.push({ memory, words: wordsOf(memory.text) });
      minds.set(npcId, kept.slice(-maxPerNpc));
      return Promise.resolve();
    },
  };
};
