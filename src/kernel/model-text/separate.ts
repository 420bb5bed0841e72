import { withoutChannels } from './harmony.js';
import { isFlooded } from './marks-flood.js';
import { joined, type Separated, withoutReasoning } from './reasoning.js';
import { beginningOf } from './special-tokens.js';

/** Tags that some models write around their answer after their reasoning. */
const WRAPPED = /^\s*<(answer|response|output|final_answer)>/i;

const unwrapped = (text: string): string => {
  const [opening, name = ''] = WRAPPED.exec(text) ?? [''];
  if (opening === '') return text;
  const end = text.toLowerCase().lastIndexOf(`</${name.toLowerCase()}>`);
  return text.slice(opening.length, end === -1 ? text.length : end);
};

const begun = (text: string): string => {
  const skipped = text.slice(0, beginningOf(text));
  return skipped.trim() === '' ? text : text.slice(skipped.length);
};

/**
 * What a model answers, without its reasoning, the tokens and headers before it, and tags around it. End tokens are still in it. Never throws; the work
 * is bounded for any text.
 */
export const separateReasoning = (text: string): Separated => {
  if (isFlooded(text)) return { text: '', reasoning: text };
  const channels = withoutChannels(text);
  const answer = withoutReasoning(begun(channels.text));
  const said = unwrapped(begun(answer.text));
  const reasoning = joined([channels.reasoning, answer.reasoning]);
  return { text: reasoning === '' ? said : said.trimStart(), reasoning };
};
