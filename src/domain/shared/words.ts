import { untilFull } from './page-size.js';

/** A longer word is cut: it is not a word of any language, and indexes bound the length of a word (PostgreSQL 2,046 bytes). In code points. */
const WORD_CHARACTERS = 64;
/**
 * The words of a text end near so many bytes of UTF-8: PostgreSQL takes less than 1 MiB of them, and behind that finds wrong ones. No text of an event
 * (contract 1.2) comes there as it is, but in compatibility form one character may become four, or eighteen.
 */
const WORDS_BYTES = 1_000_000;

const firstOf = (word: string): string =>
  word.length <= WORD_CHARACTERS ? word : [...word].slice(0, WORD_CHARACTERS).join('');

/**
 * The distinct words of a text, in the order in which they first come, up to the one that brings them to WORDS_BYTES. A word is a run of letters,
 * marks and digits, in lower case and in compatibility form (NFKC), so words that look alike are equal.
 */
export const wordsOf = (text: string): readonly string[] => {
  const words = text
    .normalize('NFKC')
    .toLowerCase()
    .match(/[\p{L}\p{M}\p{N}]+/gu);
  return [...untilFull(new Set((words ?? []).map(firstOf)), (word) => Buffer.byteLength(word), WORDS_BYTES)];
};
