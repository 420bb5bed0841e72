import type { Json } from '../kernel/base/json.js';
import type { Projection } from './read-models.js';

/** What is asked for. Words are as `searchWords` (src/kernel/base/placed-words.ts) makes them, or their beginnings. */
export type PassageQuery = {
  readonly partition: string;
  /** All of them are there. */
  readonly words: readonly string[];
  /** For each of these a word is there that begins with it. */
  readonly beginnings: readonly string[];
  /** None of these words is there. */
  readonly without: readonly string[];
  /** Of each of these groups one tag is there. */
  readonly tags: readonly (readonly string[])[];
  /** From and up to these moments, inclusive, in milliseconds since 1970. */
  readonly sinceMs?: number;
  readonly untilMs?: number;
  /** Only passages before this place. */
  readonly below?: number;
  readonly limit: number;
};

/** A passage that was found, with the row that it belongs to. */
export type PassageHit = { readonly place: number; readonly row: Json };

/** `further`: the place below which the search goes on; null when there is nothing left to look at. */
export type PassagePage = { readonly hits: readonly PassageHit[]; readonly further: number | null };

/**
 * Finds passages of rows (`Projection.passagesOf`) by their words and tags, in all streams of a partition, those of the last place first. The words
 * of a passage are those of `searchWords`, each once: whoever looks for words in a row compares the texts of what was found.
 *
 * Times and places are in the same order, but for an hour at most: events take their times from the clocks of several servers.
 *
 * One call looks at a part of the passages, so that it never takes long: it may find fewer than `limit`, even none, and there may still be more. All
 * of this is about the build that readers see; without one, nothing is found.
 */
export interface TextSearch {
  passages(projection: Projection, query: PassageQuery): Promise<PassagePage>;
}
