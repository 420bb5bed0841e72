import type { OrderRange, Projection } from './read-models.js';

/** The text of a row, as the read model holds it. */
export type RowText = { readonly key: string; readonly text: string };

/** The vector of a row's text; null when the embedder makes none of it, so that it is not asked again. */
export type RowVector = RowText & { readonly vector: Float32Array | null };

/** `stream`: of one stream alone. */
export type TextQuery = { readonly embedder: string; readonly stream?: string; readonly limit: number };

export type VectorQuery = {
  readonly embedder: string;
  readonly stream: string;
  readonly within?: OrderRange;
  readonly limit: number;
};

export type StoredVector = { readonly key: string; readonly order: string; readonly vector: Float32Array };

export type WordQuery = {
  readonly text: string;
  readonly stream: string;
  readonly within?: OrderRange;
  readonly limit: number;
};

/** `score`: above 0, and 1 for a row that holds all words of the query. */
export type WordHit = { readonly key: string; readonly order: string; readonly score: number };

/** How many words of a query are searched: its first ones. */
export const QUERY_WORDS = 32;
/** For each word of a query at least so many rows of the stream that hold it are looked at, those written last first. */
export const WORD_ROWS = 1_000;

/**
 * What the texts of rows are found by: their words, and vectors that somebody makes of them beside the events. A vector belongs to its text: it goes
 * when an event changes the text, stays when one changes the rest of the row, and goes over into a new build of the projection whose row has the
 * same key and text. All of it is about the build that readers see; where there is none, nothing is found and nothing is set.
 *
 * An embedder is named with its version in one word (`minilm@3`); vectors of different ones are never mixed. Orders of the rows of one stream differ.
 */
export interface RowSearch {
  /** At most `limit` texts that have no vector of this embedder. */
  withoutVector(projection: Projection, query: TextQuery): Promise<readonly RowText[]>;
  /** Sets the vectors of texts, each unless its row has another text by now; a row has one vector, of the embedder that set it last. */
  setVectors(projection: Projection, embedder: string, vectors: readonly RowVector[]): Promise<void>;
  /** The vectors of one stream's rows by ascending order, at most `limit`; fewer are the last ones. */
  vectors(projection: Projection, query: VectorQuery): Promise<readonly StoredVector[]>;
  /**
   * At most `limit` rows of one stream that hold words of `text` (`wordsOf`, src/domain/shared/words.ts), best first, the last order first
   * where they are equally good. A word weighs the less, the more rows hold it: 1 / (1 + ln(rows)).
   */
  byWords(projection: Projection, query: WordQuery): Promise<readonly WordHit[]>;
}
