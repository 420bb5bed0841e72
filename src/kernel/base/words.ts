import { drained, type Sliced } from './sliced.js';

/** A word of a text, and its position in it, in UTF-16 units. */
export type PlacedWord = { readonly word: string; readonly start: number };

/** The part of a text whose words count, in UTF-16 units. */
export const SEARCHED_UNITS = 65_536;
/** The words of a text end near this many bytes of UTF-8: in compatibility form one character may become eighteen. */
const WORDS_BYTES = 262_144;
/**
 * The maximum length of a word in code points; a longer one is cut. It is not a word of any language, and indexes limit the length of a word
 * (PostgreSQL 2,046 bytes).
 */
const WORD_CHARACTERS = 64;

/** At most this many units at a time: converting more to compatibility form in one go would block other work. */
const RUN = /[\p{L}\p{M}\p{N}]{1,1024}/gu;
/** Scripts without spaces between words: each character is a word, and a word of a query is a sequence of them. */
const UNSPACED =
  '[\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}\\p{scx=Thai}\\p{scx=Lao}\\p{scx=Khmer}\\p{scx=Myanmar}]';
const WORD = new RegExp(`(?=[\\p{L}\\p{N}])(?:${UNSPACED}\\p{M}*|(?:(?!${UNSPACED})[\\p{L}\\p{M}\\p{N}])+)`, 'gu');
const PLAIN = /^[0-9A-Za-z]*$/;
/** The marks of Latin, Greek and Cyrillic letters, except one that is a letter in upper case. In other scripts a mark makes a different word. */
const ACCENTS = /[\u0300-\u0344\u0346-\u036f]/g;

/** A lower-case sigma has a different form at the end of a word, and a prefix does not end where its word ends. */
const FINAL_SIGMA = /ς/g;

/** Without case and accents, in compatibility form. Some letters become two in upper case, so all are converted to upper case first. */
const folded = (run: string): string =>
  run.normalize('NFKD').replace(ACCENTS, '').normalize('NFC').toUpperCase().toLowerCase().replace(FINAL_SIGMA, 'σ');

/** A word, or the start of a word that is too long. */
const cutWord = (word: string): string =>
  word.length <= WORD_CHARACTERS ? word : [...word].slice(0, WORD_CHARACTERS).join('');

/** The work for the words of a text, relative to a text of non-ASCII letters, which have to be folded. */
const foldingWeight = (text: string): number => (/[\u0080-\uffff]/.test(text) ? 1 : 1 / 8);

/**
 * The words of a text in order, as search and recall by words compare them: runs of letters, marks and digits, without case and accents. Texts that
 * look alike have the same words. No word contains a character with a special meaning to a search engine. Whoever changes what a word is versions the
 * projections that index words.
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

/** Callers that collect many words pause after this many units of text: a few milliseconds of work if each unit has to be folded. */
const SLICE_UNITS = 1_024;

/** Passes on the words of a text one by one, in slices. @returns how many units were read since the last one */
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

/**
 * The words of a text that an index stores, each once, in slices. It also yields at the end, because many short texts are as much work as a long one.
 */
export function* wordsInSlices(text: string): Sliced<readonly string[]> {
  const words = new Set<string>();
  yield yield* eachWord(text, ({ word }) => words.add(word));
  return [...words];
}

/** `wordsInSlices` without pauses, for a short text. */
export const wordsOf = (text: string): readonly string[] => drained(wordsInSlices(text));
