import { withoutLeadingReasoning } from '../../../../kernel/model-text/reasoning.js';
import { separateReasoning } from '../../../../kernel/model-text/separate.js';
import { SPEECH_CHARS } from '../../../rules/domain/bridge/core-rules.js';
import { cleanText } from './model-text.js';

/** What may stand before the object of an answer. */
const BEFORE_OBJECT = /^\s*(?:```[a-z]*\s*)?(?=\{)/i;
/** The beginning of a tag, a token or a heading of which the rest is not written yet. The longest tag has about a hundred characters. */
const OPEN_MARK = /(?:<[^<>]{0,112}|\[[^\]]{0,32}|◁[^▷]{0,16}|#{1,3}(?: [a-z]{0,16})?)$/iu;
/** The beginning of an escape of which the rest is not written yet, after an even number of backslashes. */
const OPEN_ESCAPE = /(?<=(?:^|[^\\])(?:\\\\)*)\\(?:u[0-9a-f]{0,3})?$/i;

/** The index behind the string that begins at `from`; the length of the text if the string is not closed. */
const endOfString = (text: string, from: number): number => {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return Math.min(at, text.length);
};

type Written = {
  /** The string of the first member `dialogue`, without its quotes, closed or not; null if it has not begun. */
  readonly dialogue: string | null;
  /** Whether the object is complete. */
  readonly closed: boolean;
};

/** What is written of the object with which a text begins. */
const writtenOf = (text: string): Written => {
  let depth = 0;
  let key: string | null = null;
  let dialogue: string | null = null;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === '"') {
      const end = endOfString(text, at);
      const string = text.slice(at + 1, end);
      if (depth === 1 && key === 'dialogue') dialogue ??= string;
      key = depth === 1 ? string : null;
      at = end;
    } else if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') {
      depth -= 1;
      if (depth === 0) return { dialogue, closed: true };
    } else if (char === ',') key = null;
  }
  return { dialogue, closed: false };
};

const NOTHING: Written = { dialogue: null, closed: false };
const objectOf = (text: string): Written =>
  BEFORE_OBJECT.test(text) ? writtenOf(text.replace(BEFORE_OBJECT, '')) : NOTHING;

const unescaped = (written: string): string => {
  try {
    return JSON.parse(`"${written.replace(OPEN_ESCAPE, '').replaceAll('\n', '\\n')}"`) as string;
  } catch {
    return '';
  }
};

/** The object of an answer. A tag in an object that is still open is in one of its strings; whatever follows a closed one may make that reasoning. */
const answerOf = (output: string): Written => {
  const begun = objectOf(withoutLeadingReasoning(output));
  return begun.dialogue !== null && !begun.closed ? begun : objectOf(separateReasoning(output).text);
};

/**
 * What an answer says that a model is still writing: the beginning of its dialogue, or an empty text. Only an answer that begins as an object is read
 * early: anything else may turn out to be reasoning, which nobody may hear. A verdict may cut a longer dialogue off, so it is read no further.
 */
export const dialogueSoFar = (output: string): string => {
  const { dialogue } = answerOf(output);
  const said = dialogue === null ? '' : cleanText(unescaped(dialogue).replace(OPEN_MARK, ''));
  // White space at the end is not said.
  return said
    .trimStart()
    .slice(0, SPEECH_CHARS - 1)
    .trimEnd();
};
