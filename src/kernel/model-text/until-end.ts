import { END_PATTERN, MAY_END } from './special-tokens.js';
import { wholeAnswersIn } from './whole-answers.js';

const ENDS = new RegExp(END_PATTERN, 'gi');
const END = new RegExp(END_PATTERN, 'i');

/** A text up to the first of the places that end it. One within an answer ends nothing but the text in which it stands. */
export const untilFirst = (text: string, places: Iterable<number>): string => {
  const answers = wholeAnswersIn(text);
  let within = 0;
  for (const at of places) {
    if (at < within) continue;
    const around = answers.endAround(0, at, true);
    if (around === -1) return text.slice(0, at);
    within = around;
  }
  return text;
};

function* endsIn(text: string): Generator<number> {
  for (const { index } of text.matchAll(ENDS)) yield index;
}

/** A model's text up to its first end token of any template that is not within an answer. */
export const untilEnd = (text: string): string => (MAY_END.test(text) ? untilFirst(text, endsIn(text)) : text);

/** What one member of an answer says, up to its first end token. */
export const untilEndToken = (said: string): string => {
  const at = MAY_END.test(said) ? said.search(END) : -1;
  return at === -1 ? said : said.slice(0, at);
};
