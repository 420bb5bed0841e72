/**
 * How many openings of marks a text may have. An answer has a handful; each costs a few microseconds in every step of the reading. A text with more is
 * no answer.
 */
export const OPENINGS = 2_048;

const code = (char: string): number => char.charCodeAt(0);
const ANGLE = code('<');
const BRACKET = code('[');
const TRIANGLE = code('◁');
const BACKSLASH = code('\\');

/** Whether a character may follow the opening of a mark: a letter, `/`, `|` or another opening. */
const mayFollow = (char: number): boolean =>
  (char | 32) === code('|') ||
  char === code('/') ||
  char === code('｜') ||
  char === ANGLE ||
  (char >= 65 && char <= 90) ||
  (char >= 97 && char <= 122);

/** JSON may hide an opening: `\u003c`, `\u005b`. */
const isEscapedOpening = (text: string, at: number): boolean => /^\\u00(?:3c|5b)/i.test(text.slice(at, at + 6));

/** Whether a text has more openings of marks than an answer can have. */
export const isFlooded = (text: string): boolean => {
  let openings = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    const opens =
      char === ANGLE || char === BRACKET
        ? mayFollow(text.charCodeAt(at + 1))
        : char === TRIANGLE ||
          (char === BACKSLASH && text.charCodeAt(at + 1) === code('u') && isEscapedOpening(text, at));
    if (!opens) continue;
    openings += 1;
    if (openings > OPENINGS) return true;
  }
  return false;
};
