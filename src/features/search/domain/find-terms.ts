import type { Sliced } from '../../../kernel/base/sliced.js';
import { type PlacedWord, placedWordsInSlices } from '../../../kernel/base/words.js';
import type { SearchTerm } from './search-terms.js';

/** The limit of a snippet, and of the text before its hit, in UTF-16 units. */
const SNIPPET_UNITS = 200;
const BEFORE_UNITS = 60;

/** Comparing pauses after this many words: some milliseconds of work. */
const SLICE_WORDS = 32_768;

/** For each prefix of these words, the length of its longest proper suffix that is also a prefix (Knuth, Morris, Pratt). */
const overlapsIn = (words: readonly string[]): readonly number[] => {
  const overlaps = [0];
  for (let at = 1, length = 0; at < words.length; at += 1) {
    while (length > 0 && words[at] !== words[length]) length = overlaps[length - 1] ?? 0;
    if (words[at] === words[length]) length += 1;
    overlaps.push(length);
  }
  return overlaps;
};

/**
 * The first position of a term, as an index into the words; -1 if it is absent. Each word of the text is looked at once, however repetitive the words
 * of the term are.
 */
const placeOf = ({ words, isBeginning }: SearchTerm, text: readonly PlacedWord[]): number => {
  const whole = isBeginning ? words.slice(0, -1) : words;
  const beginning = isBeginning ? (words.at(-1) ?? '') : '';
  const overlaps = overlapsIn(whole);
  let length = 0;
  for (let at = 0; at < text.length; at += 1) {
    const word = text[at]?.word ?? '';
    if (isBeginning && length === whole.length && word.startsWith(beginning)) return at - whole.length;
    while (length > 0 && (length === whole.length || word !== whole[length])) length = overlaps[length - 1] ?? 0;
    if (word === whole[length]) length += 1;
    if (!isBeginning && length === whole.length) return at + 1 - length;
  }
  return -1;
};

/**
 * The first position of any of these terms in a text, in UTF-16 units, if all required terms are present and no excluded one is; otherwise null. In
 * slices.
 */
export function* findTerms(terms: readonly SearchTerm[], text: string): Sliced<number | null> {
  if (terms.length === 0) return 0;
  const words = yield* placedWordsInSlices(text);
  let first = Infinity;
  let compared = 0;
  for (const term of terms) {
    const place = placeOf(term, words);
    if (place < 0 !== term.isExcluded) return null;
    if (!term.isExcluded) first = Math.min(first, words[place]?.start ?? 0);
    compared += words.length;
    if (compared < SLICE_WORDS) continue;
    yield compared;
    compared = 0;
  }
  return first === Infinity ? 0 : first;
}

/** The text around a position. */
export const snippetAt = (text: string, place: number): string => {
  if (text.length <= SNIPPET_UNITS) return text;
  const start = Math.max(0, Math.min(place - BEFORE_UNITS, text.length - SNIPPET_UNITS));
  const end = start + SNIPPET_UNITS;
  const shown = text
    .slice(start + (start > 0 ? 1 : 0), end - (end < text.length ? 1 : 0))
    // Half of a surrogate pair may be left at an end that was cut.
    .replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
  return `${start > 0 ? '…' : ''}${shown}${end < text.length ? '…' : ''}`;
};
