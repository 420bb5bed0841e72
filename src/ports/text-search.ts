import type { Json } from '../kernel/base/json.js';
import type { Projection } from './read-models.js';

/** A query. Words are as `wordsInSlices` (src/kernel/base/words.ts) makes them, or their beginnings. */
export type PassageQuery = {
  readonly partition: string;
  /** The passage has all of these words. */
  readonly words: readonly string[];
  /** For each of these, the passage has a word that begins with it. */
  readonly beginnings: readonly string[];
  /** The passage has none of these words. */
  readonly without: readonly string[];
  /** The passage has a tag of each of these groups. */
  readonly tags: readonly (readonly string[])[];
  /** Both times are inclusive, in milliseconds since 1970. */
  readonly sinceMs?: number;
  readonly untilMs?: number;
  /** Only passages before this position. */
  readonly below?: number;
  readonly limit: number;
};

/** A passage that was found, with the row that it belongs to. */
export type PassageHit = { readonly place: number; readonly row: Json };

/** `further`: the position below which the search continues; null if nothing is left to search. */
export type PassagePage = { readonly hits: readonly PassageHit[]; readonly further: number | null };

/**
 * Finds passages of rows (`Projection.passagesOf`) by their words and tags, in all streams of a partition, the highest positions first. The words of
 * a passage are those of `wordsInSlices`, each once: to look for words in a row, compare the texts of the hits.
 *
 * Times and positions are in the same order, except within an hour: events take their times from the clocks of several servers.
 *
 * One call searches a part of the passages, so that it never takes long: it may find fewer than `limit`, even none, and there may still be more. All
 * of this applies to the build that readers see; without one, nothing is found.
 */
export interface TextSearch {
  passages(projection: Projection, query: PassageQuery): Promise<PassagePage>;
}
