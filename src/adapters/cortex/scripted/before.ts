import { cutText } from '../../../kernel/base/text.js';
import type { Occasion } from './phrases.js';
import type { PromptContent } from './situation.js';

/** The maximum length of a repeated text, in UTF-16 units. */
const REPEATED_CHARS = 400;

/** What may follow without making it a question about something else. */
const END = String.raw`(?: (?:to me|to you|just now|before|again|there))*\s*(?:[?.!]|$)`;
const OWN = new RegExp(
  String.raw`\bwhat (?:did|have) you (?:just |only )?(?:say|said|tell me|told me|answer|answered|reply)${END}|\b(?:say|repeat) (?:that|it) (?:again|once more|for me)\b|\bwhat was (?:that|it) you (?:just )?said\b|\bwas hast du (?:gerade |eben |zuletzt |da )*gesagt\b|\bsag (?:das|es) noch ?(?:ein)?mal\b|(?:^|\s)wiederhole? (?:das|es)\b`,
  'i',
);
const THEIRS = new RegExp(
  String.raw`\bwhat (?:did|have) i (?:just |only )?(?:say|said|tell you|told you|ask|asked|ask you|asked you)${END}|\bwas hab(?:e)? ich (?:dich |dir |gerade |eben |zuletzt )*(?:gesagt|gefragt)\b`,
  'i',
);

/** The answer to a question about the last words of either side: the occasion and the words; null if it asks for something else. */
export const saidLast = (
  { before }: Pick<PromptContent, 'before'>,
  asked: string,
): { readonly occasion: Occasion; readonly words: string } | null => {
  const last = before.at(-1);
  if (last === undefined) return null;
  const occasion = OWN.test(asked) ? 'saidBefore' : THEIRS.test(asked) ? 'heardBefore' : null;
  if (occasion === null) return null;
  const words = occasion === 'saidBefore' ? before.findLast(({ said }) => said !== '')?.said : last.heard;
  return words === undefined || words === '' ? null : { occasion, words: cutText(words, REPEATED_CHARS) };
};
