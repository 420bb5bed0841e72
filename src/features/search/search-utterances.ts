import { findTerms, snippetAt } from './domain/find-terms.js';
import { SEARCHED_UNITS } from '../../kernel/base/words.js';
import { type SearchTerm, searchTerms } from './domain/search-terms.js';
import type { PassageQuery, TextSearch } from '../../ports/text-search.js';
import {
  type UtteranceEntry,
  type UtteranceFilter,
  type UtteranceKind,
  utterances,
  type UtterancesRow,
  utteranceTag,
} from '../../../projections/utterances.js';
import { defined } from '../../kernel/base/defined.js';
import { inSlices } from '../../kernel/concurrency/in-slices.js';
import { yieldToEventLoop } from '../../kernel/concurrency/yield-to-event-loop.js';

/** The limits of the passages per read, the reads per answer, and the text that an answer looks at, in UTF-16 units. */
const READ_PASSAGES = 100;
const MAX_READS = 50;
const MAX_UNITS = 2 * 1024 * 1024;
/** Other work runs after this much text, in UTF-16 units: some milliseconds if each word must be folded. */
const PAUSE_UNITS = 8 * 1024;
/** A response ends with the hit with which its texts reach this many bytes of UTF-8. */
const ANSWER_BYTES = 1024 * 1024;
/** How many words of a query are passed to the index: its results are compared with the complete query. */
const INDEXED_WORDS = 16;
/**
 * How many prefixes are passed, and their minimum length, in UTF-16 units. An index reads all passages of all words with a prefix before it returns
 * the first one: short prefixes are better looked for in the texts.
 */
const INDEXED_BEGINNINGS = 2;
const BEGINNING_UNITS = 3;

/** A search. An absent filter selects everything. */
export type UtteranceSearch = {
  readonly q?: string;
  /** The names that each filter selects. */
  readonly filters?: Readonly<Partial<Record<UtteranceFilter, readonly string[]>>>;
  readonly sinceMs?: number;
  readonly untilMs?: number;
  readonly below?: number;
  readonly limit: number;
};

export type UtteranceHit = {
  readonly npcId: string;
  readonly turnId: string | null;
  readonly revision: number;
  readonly at: string;
  readonly kind: UtteranceKind;
  readonly by: string | null;
  readonly to: string | null;
  readonly text: string;
  readonly snippet: string;
  readonly player?: string;
  readonly actor?: string;
  readonly action?: string;
  readonly drRuleId?: string;
  readonly refused?: true;
  readonly code?: string;
  readonly memoryId?: string;
  readonly retracted?: true;
};

/** `next`: the position below which the search continues. */
export type FoundUtterances = { readonly hits: readonly UtteranceHit[]; readonly next?: number };

const distinct = (words: readonly string[]): readonly string[] => [...new Set(words)];

/** The part of the terms that an index of words can answer. For an excluded phrase only the phrase must be absent: its words may occur. */
const indexedOf = (terms: readonly SearchTerm[]): Pick<PassageQuery, 'words' | 'beginnings' | 'without'> => {
  const wanted = terms.filter(({ isExcluded }) => !isExcluded);
  return {
    words: distinct(wanted.flatMap(({ words, isBeginning }) => (isBeginning ? words.slice(0, -1) : words))).slice(
      0,
      INDEXED_WORDS,
    ),
    beginnings: distinct(wanted.flatMap(({ words, isBeginning }) => (isBeginning ? words.slice(-1) : [])))
      .filter(({ length }) => length >= BEGINNING_UNITS)
      .toSorted((one, other) => other.length - one.length)
      .slice(0, INDEXED_BEGINNINGS),
    without: distinct(
      terms.flatMap(({ words, isExcluded, isBeginning }) =>
        isExcluded && !isBeginning && words.length === 1 ? words : [],
      ),
    ),
  };
};

const hitOf = ({ npcId, turnId, player }: UtterancesRow, said: UtteranceEntry, found: number): UtteranceHit => {
  const { by, to, place: _, text, ...rest } = said;
  return {
    // The id comes last. Names may be shared.
    ...defined({ player: player.at(-1) }),
    ...{ npcId, turnId, by: by[0] ?? null, to: to[0] ?? null, text, snippet: snippetAt(text, found) },
    ...rest,
  };
};

/**
 * The utterances in a tenant's minds, newest first. The index finds where the words are; the text shows whether they match the query, so all engines
 * find the same. One answer looks at a limited part, and may then hold fewer hits than requested, with `next`.
 * @throws Rejection SCHEMA_INVALID for a query that cannot be read; what the search throws
 */
export const searchUtterances = async (
  { textSearch }: { readonly textSearch: TextSearch },
  tenant: string,
  { q, filters = {}, sinceMs, untilMs, below, limit }: UtteranceSearch,
): Promise<FoundUtterances> => {
  const terms = q === undefined ? [] : searchTerms(q);
  const query = {
    partition: tenant,
    ...indexedOf(terms),
    tags: (Object.keys(filters) as UtteranceFilter[]).flatMap((filter) => {
      const names = filters[filter];
      return names === undefined ? [] : [names.map((name) => utteranceTag(filter, name))];
    }),
    ...(sinceMs === undefined ? {} : { sinceMs }),
    ...(untilMs === undefined ? {} : { untilMs }),
    limit: terms.length === 0 ? limit : READ_PASSAGES,
  };
  const hits: UtteranceHit[] = [];
  let place = below;
  let [units, unpaused, bytes] = [0, 0, 0];
  for (let reads = 0; reads < MAX_READS && units < MAX_UNITS; reads += 1) {
    const page = await textSearch.passages(utterances, place === undefined ? query : { ...query, below: place });
    const lastPlace = page.further === null ? page.hits.at(-1)?.place : undefined;
    for (const { place: at, row } of page.hits) {
      const found = row as unknown as UtterancesRow;
      const said = found.utterances.find((one) => one.place === at);
      if (said === undefined) continue;
      const size = Math.min(said.text.length, SEARCHED_UNITS);
      units += size;
      unpaused += size;
      if (unpaused >= PAUSE_UNITS) {
        await yieldToEventLoop();
        unpaused = 0;
      }
      const stands = await inSlices(findTerms(terms, said.text));
      if (stands === null) continue;
      hits.push(hitOf(found, said, stands));
      bytes += Buffer.byteLength(said.text);
      if (hits.length === limit || bytes >= ANSWER_BYTES) return at === lastPlace ? { hits } : { hits, next: at };
    }
    if (page.further === null) return { hits };
    place = page.further;
    await yieldToEventLoop();
  }
  return { hits, ...(place === undefined ? {} : { next: place }) };
};
