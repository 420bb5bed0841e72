import { placedWords } from '../../../kernel/base/words.js';

/** Two texts nearly repeat each other if each has at least this share of its words in common with the other. */
const COMMON_SHARE = 2 / 3;
/** The part of a text that is compared, in UTF-16 units: an ordinary question is shorter. */
const COMPARED_UNITS = 256;

const wordsIn = (text: string): ReadonlySet<string> =>
  new Set([...placedWords(text.slice(0, COMPARED_UNITS))].map(({ word }) => word));

/** Tells whether texts nearly repeat this one. */
export const nearRepeatOf = (text: string): ((other: string) => boolean) => {
  const words = wordsIn(text);
  return (other) => {
    const others = wordsIn(other);
    const common = [...others].filter((word) => words.has(word)).length;
    return common > 0 && common >= COMMON_SHARE * Math.max(words.size, others.size);
  };
};
