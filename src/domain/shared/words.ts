/** A longer word is cut: it is no word of any language, and indexes bound what they take. In code points. */
const WORD_CHARACTERS = 64;

const firstOf = (word: string): string =>
  word.length <= WORD_CHARACTERS ? word : [...word].slice(0, WORD_CHARACTERS).join('');

/**
 * The distinct words of a text, in the order in which they first come: runs of letters, marks and digits, in lower case and in compatibility
 * form (NFKC), so that words that look alike are alike.
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
