import { pullApart } from '../../../../kernel/model-text/pull-apart.js';

/**
 * What models take for the boundary of a message: `<|...|>` of ChatML and Llama 3 (also with the full-width bar), `###` of Alpaca, and the marks of
 * Llama 2, Mistral and Gemma, because a model server may interpret them in any prompt.
 */
const CONTROL =
  /<(?=[|｜])|(?<=[|｜])>|#(?=##)|(?<=##)#|<(?=\/?s>|<\/?sys>|(?:start|end)_of_turn>|(?:bos|eos|pad|unk)>)|\[(?=\/?(?:inst|system_prompt|available_tools|tool_(?:calls|results|content))\])/giu;

/** Every mark contains one of these in some form. Most texts contain none, and this check is far quicker. */
const SUSPECT = /<[|｜/<sebpu]|[|｜]>|###|\[\/?[isat]/i;

/**
 * Characters that break a line, move the cursor, change the reading direction or are invisible: control characters, separators of lines and
 * paragraphs, format characters (bidirectional ones, tags, zero-width ones) and the variation selectors that no emoji needs. The two joiners are kept
 * between characters beyond ASCII, where emoji and several scripts need one.
 */
const UNSEEN =
  /(?:(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u{e0000}-\u{e0fff}\u3164\u115f\u1160\uffa0]|(?<![^\p{ASCII}\p{C}])[\u200c\u200d]|[\u200c\u200d](?![^\p{ASCII}\p{C}]))+/gu;

/** A text on one line, with visible characters only. Other characters become a space, not nothing, so no mark can form from what is left. */
export const oneLine = (text: string): string => text.replace(UNSEEN, ' ');

/** As guardText, for the first two logics: only marks of message boundaries are split. */
export const guardTextBefore3 = (text: string): string => {
  const line = oneLine(text.toWellFormed());
  return SUSPECT.test(line) ? line.replace(CONTROL, (mark) => (mark === '>' ? ` ${mark}` : `${mark} `)) : line;
};

/** A text that cannot end the message that contains it, and opens no reasoning or call: it is one line, and spaces split every mark of a model. */
export const guardText = (text: string): string => pullApart(guardTextBefore3(text));
