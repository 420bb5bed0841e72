import { untilFull } from './page-size.js';
import { drained, type Sliced } from './sliced.js';

/**
 * The maximum length of a word in code points; a longer one is cut. It is not a word of any language, and indexes limit the length of a word
 * (PostgreSQL 2,046 bytes).
 */
const WORD_CHARACTERS = 64;
/**
 * The words of a text end near this many bytes of UTF-8: PostgreSQL accepts less than 1 MiB of them, and finds wrong words beyond that. No text of an
 * event is that long, but in compatibility form one character may become four, or eighteen.
 */
const WORDS_BYTES = 1_000_000;
/** How much of a text is examined in compatibility form, in bytes of UTF-8: converting and splitting more of it would block all other work. */
const FORM_BYTES = 2 * WORDS_BYTES;
/**
 * A part of a text: up to 4,096 characters that end before white space, or else after a punctuation mark. Only a text that has neither for that long
 * is cut within a word. No characters combine across such a boundary.
 */
const PART = /[^]{1,4096}(?=\s|$)|[^]{1,4096}(?<=[,;。、！？；])|[^]{1,4096}/gu;

/** A word, or the start of a word that is too long. */
export const cutWord = (word: string): string =>
  word.length <= WORD_CHARACTERS ? word : [...word].slice(0, WORD_CHARACTERS).join('');

/** The work for the words of a text, relative to a text of non-ASCII letters, which have to be folded. */
export const foldingWeight = (text: string): number => (/[\u0080-\uffff]/.test(text) ? 1 : 1 / 8);

function* formsOf(text: string): Generator<string, void, undefined> {
  for (const [part] of text.matchAll(PART)) yield part.normalize('NFKC').toLowerCase();
}

/**
 * The distinct words of a text, in the order in which they first occur, up to the one with which they reach WORDS_BYTES. A word is a run of letters,
 * marks and digits, in lower case and in compatibility form (NFKC), so words that look alike are equal. After each part, including the last one, it
 * yields the number of UTF-16 units of its form, weighted by the cost of folding.
 */
export function* wordsInSlices(text: string): Sliced<readonly string[]> {
  const words = new Set<string>();
  for (const form of untilFull(formsOf(text), (form) => Buffer.byteLength(form), FORM_BYTES)) {
    for (const word of form.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []) words.add(cutWord(word));
    yield form.length * foldingWeight(form);
  }
  return [...untilFull(words, (word) => Buffer.byteLength(word), WORDS_BYTES)];
}

/** `wordsInSlices` without pauses, for a short text. */
export const wordsOf = (text: string): readonly string[] => drained(wordsInSlices(text));
