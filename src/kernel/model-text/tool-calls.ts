import { isObject, type Json, type JsonObject } from '../base/json.js';
import { wholeAnswersIn } from './whole-answers.js';

/** A call of a function that a model wrote instead of, or next to, words. */
export type ToolCall = { readonly name: string; readonly arguments: JsonObject };

/** How many calls of one text are read; the others are left out. */
const CALLS = 16;
const NAME_CHARS = 64;

const OPEN = '<tool_call>';
const CLOSE = '</tool_call>';
/** The tags of calls, in the first group; Mistral's list has no end. */
const TAGS = /<(\/?tool_calls?)>|\[(tool_calls)\]/gi;
const MAY_CALL = /tool_call/i;

/** A call as a text has it, which all readers of model text understand. @param given the arguments, as JSON */
export const toolCallText = (name: string, given: string): string =>
  `${OPEN}{"name":${JSON.stringify(name.toWellFormed())},"arguments":${isJson(given) ? given : '{}'}}${CLOSE}`;

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
const isJson = (text: string): boolean => isObject(parse(text)) && !text.includes(CLOSE);

const callOf = (value: unknown): readonly ToolCall[] => {
  if (!isObject(value)) return [];
  const body = isObject(value['function']) ? value['function'] : value;
  const { name } = body;
  const given: Json = body['arguments'] ?? body['parameters'] ?? {};
  const read: unknown = typeof given === 'string' ? parse(given) : given;
  if (typeof name !== 'string' || name === '' || name.length > NAME_CHARS) return [];
  return [{ name, arguments: isObject(read) ? read : {} }];
};

/** Mistral also writes the name before its arguments: `[TOOL_CALLS]wave{"target":"guard"}`. */
const named = (text: string): readonly ToolCall[] => {
  const [, name = '', given = ''] = /^\s*([\w.-]{1,64})\s*(?:\[ARGS\])?\s*(\{[\s\S]*\})\s*$/.exec(text) ?? [];
  return name === '' ? [] : callOf({ name, arguments: given });
};

const callsIn = (text: string): readonly ToolCall[] => {
  const value = parse(text.trim());
  if (value === undefined) return named(text);
  return (Array.isArray(value) ? (value as readonly unknown[]) : [value]).slice(0, CALLS).flatMap(callOf);
};

/** A text without the calls in it, and the calls. Calls within an answer are a part of what it says. */
export const withoutToolCalls = (text: string): { readonly text: string; readonly calls: readonly ToolCall[] } => {
  if (!MAY_CALL.test(text)) return { text, calls: [] };
  const answers = wholeAnswersIn(text);
  const calls: ToolCall[] = [];
  let kept = '';
  let from = 0;
  let within = 0;
  let open = -1;
  let blocks = 0;
  const read = (block: string): void => {
    blocks += 1;
    if (blocks <= CALLS) calls.push(...callsIn(block));
  };
  for (const { 0: tag, 1: angled = '', index } of text.matchAll(TAGS)) {
    if (index < within) continue;
    const closes = angled.startsWith('/');
    if (open === -1) {
      within = answers.endAround(from, index, true);
      if (within !== -1) continue;
      kept += text.slice(from, index);
      if (!closes) open = index + tag.length;
    } else {
      read(text.slice(open, index));
      open = closes ? -1 : index + tag.length;
    }
    from = index + tag.length;
  }
  if (open !== -1) read(text.slice(open));
  return { text: open === -1 ? kept + text.slice(from) : kept, calls: calls.slice(0, CALLS) };
};
