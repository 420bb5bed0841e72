import { REASONING_PATTERN, MAY_REASON } from './reasoning.js';
import { END_PATTERN, MAY_END } from './special-tokens.js';

const CALLS = String.raw`<\/?tool_(?:calls?|response)>|\[tool_calls\]|<\/?function=`;
const MARK = new RegExp(String.raw`(?:${REASONING_PATTERN}|${CALLS}|${END_PATTERN})`, 'gi');
/** Marks overlap and nest, as in `<<think>`; each round breaks up one more layer, and none is left after the first few. */
const ROUNDS = 3;

/** Writes a space after the first character of everything that models take for a mark: reasoning, an end, a call. No mark is left. */
export const pullApart = (text: string): string => {
  let apart = text;
  for (let round = 0; round < ROUNDS; round += 1) {
    if (!MAY_REASON.test(apart) && !MAY_END.test(apart)) return apart;
    const next = apart.replace(MARK, (mark) => `${mark.slice(0, 1)} ${mark.slice(1)}`);
    if (next === apart) return apart;
    apart = next;
  }
  return apart;
};
