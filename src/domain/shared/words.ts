/** A longer word is cut: it is not a word of any language, and indexes bound the length of a word. In code points. */
const WORD_CHARACTERS = 64;

const firstOf = (word: string): string =>
  word.length <= WORD_CHARACTERS ? word : [...word].slice(0, WORD_CHARACTERS).join('');

/**
 * The distinct words of a text, in the order in which they first come: runs of letters, marks and digits, in lower case and in compatibility form
 * (NFKC), so words that look alike are equal.
 */
export const wordsOf = (text: string): readonly string[] => [
  ...new Set(
    (
      text
        .normalize('NFKC')
        .toLowerCase()
        .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
    ).map(firstOf),
  ),
];
