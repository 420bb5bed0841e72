import { type PlacedWord, placedWords } from './placed-words.js';
import type { SearchTerm } from './search-terms.js';

/** Of a snippet, and of what stands before its hit, in UTF-16 units. */
const SNIPPET_UNITS = 200;
const BEFORE_UNITS = 60;

/** Where a term stands first, as a place among the words; -1 where it does not. */
const placeOf = ({ words, isBeginning }: SearchTerm, text: readonly PlacedWord[]): number => {
  const last = words.length - 1;
  const isHere = (at: number): boolean =>
    words.every((word, index) => {
      const found = text[at + index]?.word;
      return index === last && isBeginning ? found?.startsWith(word) === true : found === word;
    });
  for (let at = 0; at + last < text.length; at += 1) if (isHere(at)) return at;
  return -1;
};

/** Where in a text the first of these terms stands, in UTF-16 units, if all that must be there are and none of the others; else null. */
export const findTerms = (terms: readonly SearchTerm[], text: string): number | null => {
  if (terms.length === 0) return 0;
  const words = [...placedWords(text)];
  let first = Infinity;
  for (const term of terms) {
    const place = placeOf(term, words);
    if (place < 0 !== term.isExcluded) return null;
    if (!term.isExcluded) first = Math.min(first, words[place]?.start ?? 0);
  }
  return first === Infinity ? 0 : first;
};

/** What stands around a place of a text (contract 10.10). */
export const snippetAt = (text: string, place: number): string => {
  if (text.length <= SNIPPET_UNITS) return text;
  const start = Math.max(0, Math.min(place - BEFORE_UNITS, text.length - SNIPPET_UNITS));
  const end = start + SNIPPET_UNITS;
  const shown = text
    .slice(start + (start > 0 ? 1 : 0), end - (end < text.length ? 1 : 0))
    // Half of a pair stands at an end where it was cut.
    .replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
  return `${start > 0 ? '…' : ''}${shown}${end < text.length ? '…' : ''}`;
};
