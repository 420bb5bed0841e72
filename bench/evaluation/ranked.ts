import { EMBED_TEXTS, type Embedder } from '../../src/ports/embedder.js';
import type { EvaluatedMemory, EvaluatedMind, Question } from './minds.js';
import { bm25Scores, type Grounds, wordScores } from './scorers.js';

/** A question with the grounds on which every memory of its pool is scored. */
export type Asked = {
  readonly question: Question;
  readonly memories: readonly { readonly isRight: boolean; readonly cosine: number; readonly grounds: Grounds }[];
};

/** The cosine of two vectors of unit length. */
export const dot = (one: Float32Array, other: Float32Array): number =>
  one.reduce((sum, number, at) => sum + number * (other[at] ?? 0), 0);

/** The vectors of these texts. @throws what the embedder throws, and an Error if it makes none from one of them */
export const vectorsOf = async (embedder: Embedder, texts: readonly string[]): Promise<readonly Float32Array[]> => {
  const vectors: Float32Array[] = [];
  for (let from = 0; from < texts.length; from += EMBED_TEXTS) {
    for (const vector of await embedder.embed(texts.slice(from, from + EMBED_TEXTS), { urgent: false })) {
      if (vector === null) throw new Error('a text of the evaluation has no vector');
      vectors.push(vector);
    }
  }
  return vectors;
};

/** Asks each mind its questions, as the product does. */
export const askMinds = async (embedder: Embedder, minds: readonly EvaluatedMind[]): Promise<readonly Asked[]> => {
  const asked: Asked[] = [];
  for (const { memories, questions } of minds) asked.push(...(await askPool(embedder, memories, questions)));
  return asked;
};

/** One mind with the memories of all; right answers are still those of the mind that the question is for. */
export const asOneMind = (minds: readonly EvaluatedMind[]): EvaluatedMind => {
  const named = (mind: string, id: string): string => `${mind} ${id}`;
  return {
    mind: 'all',
    memories: minds.flatMap(({ mind, memories }) => memories.map((one) => ({ ...one, id: named(mind, one.id) }))),
    questions: minds.flatMap(({ mind, questions }) =>
      questions.map((question) => ({ ...question, right: question.right.map((id) => named(mind, id)) })),
    ),
  };
};

const askPool = async (
  embedder: Embedder,
  memories: readonly EvaluatedMemory[],
  questions: readonly Question[],
): Promise<readonly Asked[]> => {
  const texts = await vectorsOf(
    embedder,
    memories.map(({ text }) => text),
  );
  const queries = await vectorsOf(
    embedder,
    questions.map(({ query }) => query),
  );
  return questions.map((question, at) => {
    const words = wordScores(question.query, memories);
    const bm25 = bm25Scores(question.query, memories);
    return {
      question,
      memories: memories.map(({ id, importance, daysAgo }, place) => {
        const [query, text] = [queries[at], texts[place]];
        if (query === undefined || text === undefined) throw new Error('a vector is missing');
        const cosine = dot(query, text);
        const lexical = { words: words.get(id) ?? 0, bm25: bm25.get(id) ?? 0 };
        const grounds = { meaning: embedder.score(cosine), ...lexical, importance, daysAgo };
        return { isRight: question.right.includes(id), cosine, grounds };
      }),
    };
  });
};
