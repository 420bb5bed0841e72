import { untilFull } from './page-size.js';
import { drained, type Sliced } from './sliced.js';

/** A longer word is cut: it is not a word of any language, and indexes bound the length of a word (PostgreSQL 2,046 bytes). In code points. */
const WORD_CHARACTERS = 64;
/**
 * The words of a text end near this many bytes of UTF-8: PostgreSQL accepts less than 1 MiB of them, and finds wrong ones beyond that. No text of an
 * event is that long, but in compatibility form one character may become four, or eighteen.
 */
const WORDS_BYTES = 1_000_000;
/** How much of a text in compatibility form is looked at, in bytes of UTF-8: making and splitting more of it would hold up all other work. */
const FORM_BYTES = 2 * WORDS_BYTES;
/**
 * A part of a text: up to 4,096 characters that end before white space, else after a mark of punctuation. Only a text that has neither for so long is
 * cut within a word. No character forms one with another across such a place.
 */
const PART = /[^]{1,4096}(?=\s|$)|[^]{1,4096}(?<=[,;。、！？；])|[^]{1,4096}/gu;

/** A word, or the start of a word that is too long. */
export const cutWord = (word: string): string =>
  word.length <= WORD_CHARACTERS ? word : [...word].slice(0, WORD_CHARACTERS).join('');

/** How much work the words of a text are, measured by a text of other letters than ASCII, which must be folded. */
export const foldingWeight = (text: string): number => (/[\u0080-\uffff]/.test(text) ? 1 : 1 / 8);

function* formsOf(text: string): Generator<string, void, undefined> {
  for (const [part] of text.matchAll(PART)) yield part.normalize('NFKC').toLowerCase();
}

/**
 * The distinct words of a text, in the order in which they first come, up to the one that brings them to WORDS_BYTES. A word is a run of letters,
 * marks and digits, in lower case and in compatibility form (NFKC), so words that look alike are equal. It yields after each part, also the last one, how
 * many UTF-16 units its form has, by the weight of its folding.
 */
export function* wordsInSlices(text: string): Sliced<readonly string[]> {
  const words = new Set<string>();
  for (const form of untilFull(formsOf(text), (form) => Buffer.byteLength(form), FORM_BYTES)) {
    for (const word of form.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []) words.add(cutWord(word));
    yield form.length * foldingWeight(form);
  }
  return [...untilFull(words, (word) => Buffer.byteLength(word), WORDS_BYTES)];
}

/** `wordsInSlices` at once, for a short text. */
export const wordsOf = (text: string): readonly string[] => drained(wordsInSlices(text));
