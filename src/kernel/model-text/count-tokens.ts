/**
 * What characters cost, in hundredths of a token: about as much as the tokenizer of a current open model that needs most for their script
 * (docs/adr/0037-token-counter.md).
 */
const WORD = 94;
const LETTER = 4;
/** Letters of a word after the first ones: long words are rare ones. */
const LATER_LETTER = 34;
const FIRST_LETTERS = 5;
const CAPITAL = 25;
const CAPITAL_OF_MANY = 42;
const ACCENTED = 170;
const CYRILLIC = 42;
const CYRILLIC_WORD = 30;
const DIGIT = 100;
const MARK = 68;
/** A space before a word belongs to it. */
const SPACE = 100;
const MORE_SPACE = 7;
const CONTROL = 100;
const KANA = 125;
const HAN = 142;
const HANGUL = 120;
/** Half of a character outside the basic plane, such as an emoji. */
const HALF = 180;
const OTHER = 120;

type Kind = 'none' | 'lower' | 'upper' | 'digit' | 'space' | 'cyrillic' | 'other';

/** What a character outside ASCII costs, other than a letter of Latin or Cyrillic. */
const beyond = (code: number): number => {
  if (code >= 0x3040 && code < 0x3100) return KANA;
  if ((code >= 0x3400 && code < 0xa000) || (code >= 0xf900 && code < 0xfb00)) return HAN;
  if (code >= 0xac00 && code < 0xd7b0) return HANGUL;
  return code >= 0xd800 && code < 0xe000 ? HALF : OTHER;
};

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/**
 * About how many tokens a text takes in a prompt, from its characters alone. It is part of the logic of prompts: a text has the same count on every
 * server, whatever its model is.
 */
export const countTokens = (text: string): number => {
  let cost = 0;
  let letters = 0;
  let before: Kind = 'none';
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const isInWord: boolean = before === 'lower' || before === 'upper';
    if (code >= 97 && code <= 122) {
      letters = isInWord ? letters + 1 : 1;
      cost += letters === 1 ? WORD + LETTER : letters > FIRST_LETTERS ? LATER_LETTER : LETTER;
      before = 'lower';
    } else if (code >= 65 && code <= 90) {
      // A capital after another letter begins a word, as in camelCase.
      letters = before === 'upper' ? letters + 1 : 1;
      cost += letters === 1 ? WORD + LETTER + CAPITAL : CAPITAL_OF_MANY;
      before = 'upper';
    } else if (isDigit(code)) {
      cost += DIGIT;
      before = 'digit';
    } else if (code === 32) {
      const next = text.charCodeAt(at + 1);
      if (before === 'space') cost += MORE_SPACE;
      else if (next === 32 || isDigit(next)) cost += SPACE;
      before = 'space';
    } else if (code < 128) {
      cost += code < 32 ? CONTROL : MARK;
      before = 'other';
    } else if (code >= 0xc0 && code < 0x250) {
      letters = isInWord ? letters + 1 : 1;
      cost += ACCENTED;
      before = 'lower';
    } else if (code >= 0x400 && code < 0x530) {
      cost += before === 'cyrillic' ? CYRILLIC : CYRILLIC + CYRILLIC_WORD;
      before = 'cyrillic';
    } else {
      cost += beyond(code);
      before = 'other';
    }
  }
  return Math.ceil(cost / 100);
};
