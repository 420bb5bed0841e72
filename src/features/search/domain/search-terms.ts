import { Rejection } from '../../../kernel/base/rejection.js';
import { placedWords } from '../../../kernel/base/words.js';

/** How many terms a query may have, and how many characters. */
const MAX_TERMS = 32;
export const QUERY_CHARACTERS = 512;

/** One part of a query: words in this order. */
export type SearchTerm = {
  readonly words: readonly string[];
  /** The last word is a prefix. */
  readonly isBeginning: boolean;
  /** The words must be absent. */
  readonly isExcluded: boolean;
};

const refused = (message: string): Rejection =>
  new Rejection('SCHEMA_INVALID', { details: { issues: [{ pointer: '/q', message }] } });

/** A minus before it excludes a term. A quote ends only with another one. */
const TERM = /(-?)(?:"([^"]*)("?)|([^\s"]+))/g;

/**
 * The terms of a query: `word`, `"several words"`, `word*`, and `-` before any of them. Everything else separates words. A word in a script without
 * spaces, or with marks within it, is several consecutive words.
 * @throws Rejection SCHEMA_INVALID for a query that has no words, an open quote, or too many terms
 */
export const searchTerms = (query: string): readonly SearchTerm[] => {
  const terms: SearchTerm[] = [];
  for (const [, minus = '', phrase, closing, word = ''] of query.matchAll(TERM)) {
    if (phrase !== undefined && closing === '') throw refused('has an unclosed quote');
    const words = [...placedWords(phrase ?? word)].map((placed) => placed.word);
    if (words.length === 0) continue;
    terms.push({
      words,
      isBeginning: phrase === undefined && word.endsWith('*'),
      isExcluded: minus === '-',
    });
  }
  if (terms.length === 0) throw refused('has no words to search for');
  if (terms.length > MAX_TERMS) throw refused(`has more than ${String(MAX_TERMS)} words or phrases`);
  return terms;
};
