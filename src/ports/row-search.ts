import type { OrderRange, Projection } from './read-models.js';

/** The text of a row, as the read model holds it. */
export type RowText = { readonly key: string; readonly text: string };

/** The vector of a row's text. Null means that the embedder makes none from it, so the text is not embedded again. */
export type RowVector = RowText & { readonly vector: Float32Array | null };

/** `stream`: of this stream only, and within it of a range only. */
export type TextQuery = {
  readonly embedder: string;
  readonly limit: number;
} & ({ readonly stream: string; readonly within?: OrderRange } | { readonly stream?: undefined });

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
  /**
   * Only rows of one of these groups (`Projection.textGroupOf`) are found, and only they count for the weight of a word; all rows if absent. While
   * readers see a build of another version of the projection, which may lack the groups, each of its rows counts as one of every group.
   */
  readonly groups?: readonly string[];
  readonly limit: number;
};

/** `score`: above 0, and 1 for a row that holds all words of the query. */
export type WordHit = { readonly key: string; readonly order: string; readonly score: number };

/** How many words of a query are searched: its first ones. */
export const QUERY_WORDS = 32;
/** For each word of a query, at least this many rows of the stream, groups and range with that word are read, the newest first. */
export const WORD_ROWS = 1_000;

/**
 * What the texts of rows are found by: their words, and vectors that an embedder makes from them outside the events. A vector belongs to its text: it
 * is removed when an event changes the text, and kept when an event changes the rest of the row. A new build of the projection takes it over if its
 * row has the same key and text. All of this applies to the build that readers see. If there is none, nothing is found and nothing is set.
 *
 * An embedder is named with its version in one string (`use-multilingual-v3@1`). Vectors of different embedders are never mixed. The rows of one stream have
 * different orders.
 */
export interface RowSearch {
  /**
   * At most `limit` texts that have no vector of this embedder. Within a stream, those that no embedder has seen yet come first, the last order
   * first, so that recent writes can be embedded before an old backlog.
   */
  withoutVector(projection: Projection, query: TextQuery): Promise<readonly RowText[]>;
  /** How many texts have no vector of this embedder; `limit` if there are more. */
  countWithoutVector(projection: Projection, query: TextQuery): Promise<number>;
  /**
   * Sets the vectors of texts, unless the row has a different text by now. A row has one vector, from the embedder that set it last. A null never
   * replaces a vector of the same embedder: another process may have made it meanwhile.
   */
  setVectors(projection: Projection, embedder: string, vectors: readonly RowVector[]): Promise<void>;
  /** The vectors of one stream's rows by ascending order, at most `limit`; if there are more, the last ones. */
  vectors(projection: Projection, query: VectorQuery): Promise<readonly StoredVector[]>;
  /** Whether one stream has a text from which the embedder makes no vector, in a range. */
  hasMeaningless(projection: Projection, query: Omit<VectorQuery, 'limit'>): Promise<boolean>;
  /**
   * At most `limit` rows of one stream that hold words of `text` (`wordsOf`, src/kernel/base/words.ts), best first; of equally good rows the last
   * order comes first. A word weighs less the more rows of the stream, groups and range hold it: 1 / (1 + ln(rows)).
   */
  byWords(projection: Projection, query: WordQuery): Promise<readonly WordHit[]>;
}
