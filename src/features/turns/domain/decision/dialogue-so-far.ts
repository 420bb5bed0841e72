import { separateReasoning } from '../../../../kernel/model-text/separate.js';
import { cleanText } from './model-text.js';

/** What may stand before the object of an answer. */
const BEFORE_OBJECT = /^\s*(?:```[a-z]*\s*)?(?=\{)/i;
/** The beginning of a tag or token of which the rest is not written yet. */
const OPEN_TAG = /[<[◁][^>\]▷\n]{0,64}$/u;
/** The beginning of an escape of which the rest is not written yet, after an even number of backslashes. */
const OPEN_ESCAPE = /(?<=(?:^|[^\\])(?:\\\\)*)\\(?:u[0-9a-f]{0,3})?$/i;

/** The index behind the string that begins at `from`; the length of the text if the string is not closed. */
const endOfString = (text: string, from: number): number => {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return Math.min(at, text.length);
};

/** The string of a top-level member as it is written, without its quotes, closed or not; null if it has not begun. */
const memberText = (text: string, name: string): string | null => {
  let depth = 0;
  let key: string | null = null;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === '"') {
      const end = endOfString(text, at);
      const string = text.slice(at + 1, end);
      if (depth === 1 && key === name) return string;
      key = depth === 1 ? string : null;
      at = end;
    } else if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') depth -= 1;
    else if (char === ',') key = null;
  }
  return null;
};

const unescaped = (written: string): string => {
  try {
    return JSON.parse(`"${written.replace(OPEN_ESCAPE, '').replaceAll('\n', '\\n')}"`) as string;
  } catch {
    return '';
  }
};

/**
 * What an answer says that a model is still writing: the beginning of its dialogue, or an empty text. Only an answer that begins as an object is read
 * early. Anything else may turn out to be reasoning, which nobody may hear.
 */
export const dialogueSoFar = (output: string): string => {
  const { text } = separateReasoning(output);
  if (!BEFORE_OBJECT.test(text)) return '';
  const written = memberText(text.replace(BEFORE_OBJECT, ''), 'dialogue');
  // Reasoning may also be inside, in escapes too. One that is not closed yet hides the rest.
  const dialogue = written === null ? '' : separateReasoning(unescaped(written)).text;
  return cleanText(dialogue.replace(OPEN_TAG, '')).trimStart();
};
