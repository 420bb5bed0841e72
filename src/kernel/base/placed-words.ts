import type { Sliced } from './sliced.js';
import { cutWord, foldingWeight } from './words.js';

/** A word that search compares, and where in its text it stands, in UTF-16 units. */
export type PlacedWord = { readonly word: string; readonly start: number };

/** The part of a text that is searched, in UTF-16 units. */
export const SEARCHED_UNITS = 65_536;
/** The words of a text end near so many bytes of UTF-8: in compatibility form one character may become eighteen. */
const WORDS_BYTES = 262_144;

/** At most so many units: making a compatibility form of more at once would hold up other work. */
const RUN = /[\p{L}\p{M}\p{N}]{1,1024}/gu;
/** Scripts without spaces between words: there each character is a word, and a word of a query is some of them in a row. */
const UNSPACED =
  '[\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}\\p{scx=Thai}\\p{scx=Lao}\\p{scx=Khmer}\\p{scx=Myanmar}]';
const WORD = new RegExp(`(?=[\\p{L}\\p{N}])(?:${UNSPACED}\\p{M}*|(?:(?!${UNSPACED})[\\p{L}\\p{M}\\p{N}])+)`, 'gu');
const PLAIN = /^[0-9A-Za-z]*$/;
/** The marks of Latin, Greek and Cyrillic letters, but for one that is a letter when it is large. In other scripts a mark makes another word. */
const ACCENTS = /[\u0300-\u0344\u0346-\u036f]/g;

/** A small sigma has another form at the end of a word, and a prefix of a word does not end there. */
const FINAL_SIGMA = /ς/g;

/** Without case and accents, in compatibility form. Some letters are two when they are large, so all are made large first. */
const folded = (run: string): string =>
  run.normalize('NFKD').replace(ACCENTS, '').normalize('NFC').toUpperCase().toLowerCase().replace(FINAL_SIGMA, 'σ');

/**
 * The words of a text in order, as search compares them: runs of letters, marks and digits, without case and accents. Texts that look alike have the
 * same words. No word has a character that means something to a search engine.
 */
export function* placedWords(text: string): Generator<PlacedWord, void, undefined> {
  let bytes = 0;
  for (const { 0: run, index: start } of text.slice(0, SEARCHED_UNITS).matchAll(RUN)) {
    if (PLAIN.test(run)) {
      yield { word: cutWord(run.toLowerCase()), start };
      bytes += run.length;
    } else {
      for (const { 0: word, index } of folded(run).matchAll(WORD)) {
        yield { word: cutWord(word), start: start + Math.min(index, run.length - 1) };
        bytes += Buffer.byteLength(word);
        if (bytes >= WORDS_BYTES) return;
      }
    }
  }
}

/** Whoever finds many words pauses after so many units of the text: a few milliseconds of work where each must be folded. */
const SLICE_UNITS = 1_024;

/** Takes the words of a text one by one, in slices. @returns how many units were taken since the last one */
function* eachWord(text: string, take: (placed: PlacedWord) => void): Sliced<number> {
  const weight = foldingWeight(text);
  let paused = 0;
  for (const placed of placedWords(text)) {
    take(placed);
    if (placed.start - paused < SLICE_UNITS) continue;
    yield (placed.start - paused) * weight;
    paused = placed.start;
  }
  return (Math.min(text.length, SEARCHED_UNITS) - paused) * weight;
}

/** `placedWords`, in slices. */
export function* placedWordsInSlices(text: string): Sliced<readonly PlacedWord[]> {
  const words: PlacedWord[] = [];
  yield* eachWord(text, (placed) => words.push(placed));
  return words;
}

/** The words that an index holds of a text, each once, in slices. It yields at the end, too: many short texts are as much work as a long one. */
export function* searchWords(text: string): Sliced<readonly string[]> {
  const words = new Set<string>();
  yield yield* eachWord(text, ({ word }) => words.add(word));
  return [...words];
}
