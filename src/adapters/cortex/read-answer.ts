import { defined } from '../../kernel/base/defined.js';
import { isObject, type Json, type JsonObject, objectOrEmpty } from '../../kernel/base/json.js';
import { toolCallText } from '../../kernel/model-text/tool-calls.js';
import { isBrokenOff } from '../../kernel/model-text/whole-answers.js';
import type { Completed } from '../../ports/cortex.js';
import { answerInStream, isStream } from './answer-stream.js';
import { badAnswer } from './attempt-failed.js';
import { causeIn } from './error-cause.js';
import { saidIn } from './said.js';

/** A model's answer. `needsRoom`: it reached its limit of tokens in the middle of an object. */
export type ModelAnswer = Completed & { readonly needsRoom: boolean };

/** Members of a message that hold reasoning, by server: DeepSeek and vLLM, OpenRouter and newer vLLM, Ollama, LiteLLM. */
const REASONING = ['reasoning_content', 'reasoning', 'thinking', 'thinking_blocks'];
/** Only read if none of the others has a text: it repeats them in parts. */
const REASONING_PARTS = 'reasoning_details';
/** The types of parts that hold reasoning. */
const THOUGHT = /^(?:redacted_)?(?:thinking|reasoning|thought)/;

/** Why a model stopped, in the words of several servers. */
const CUT: ReadonlySet<string> = new Set(['length', 'max_tokens', 'max_output_tokens', 'model_length']);
const FILTERED: ReadonlySet<string> = new Set([
  ...['content_filter', 'content-filter', 'safety', 'recitation', 'blocklist', 'prohibited_content', 'spii'],
  ...['sensitive', 'refusal', 'guardrail', 'guardrail_intervened', 'moderation'],
]);
const BROKEN: ReadonlySet<string> = new Set([
  ...['error', 'abort', 'aborted', 'cancelled', 'canceled', 'timeout', 'server_error', 'network_error'],
  ...['insufficient_system_resource', 'malformed_function_call', 'repetition'],
]);

/** How deep parts may be nested: a thought has parts of its own. */
const PART_DEPTH = 4;

/** The text of a member that is a text, a part, or a list of parts. */
const textOf = (value: Json | undefined, depth = 1): string => {
  if (typeof value === 'string') return value;
  if (depth > PART_DEPTH) return '';
  if (Array.isArray(value)) return (value as readonly Json[]).map((part) => textOf(part, depth + 1)).join('');
  if (!isObject(value)) return '';
  const name = ['text', 'thinking', 'reasoning', 'summary', 'content', 'value', 'refusal'].find(
    (one) => typeof value[one] === 'string' || Array.isArray(value[one]) || isObject(value[one]),
  );
  return name === undefined ? '' : textOf(value[name], depth + 1);
};

const isThought = (part: Json): boolean =>
  isObject(part) && typeof part['type'] === 'string' && THOUGHT.test(part['type']);

const partsOf = (content: Json | undefined): readonly Json[] =>
  Array.isArray(content) ? (content as readonly Json[]) : content === undefined || content === null ? [] : [content];

const thoughtsOf = (message: JsonObject): readonly string[] => {
  const thought = [
    ...REASONING.map((name) => textOf(message[name])),
    ...partsOf(message['content'])
      .filter(isThought)
      .map((part) => textOf(part)),
  ].filter((text) => text !== '');
  return thought.length > 0 ? thought : [textOf(message[REASONING_PARTS])];
};

/** The calls of functions of a message, as text that every reader of model text understands. */
const callsOf = ({ tool_calls: listed, function_call: single }: JsonObject): string => {
  const calls = [...(Array.isArray(listed) ? (listed as readonly Json[]) : []), ...(isObject(single) ? [single] : [])];
  return calls
    .map((call) => objectOrEmpty(objectOrEmpty(call)['function'] ?? call))
    .map(({ name, arguments: given }) =>
      typeof name === 'string' && name !== ''
        ? toolCallText(name, typeof given === 'string' ? given : JSON.stringify(given ?? {}))
        : '',
    )
    .join('');
};

/** The numbers of `usage`, under this server's names. */
const usageOf = (answer: JsonObject): Readonly<Record<string, number>> => {
  const usage = objectOrEmpty(answer['usage']);
  const figure = (name: string): number | undefined => (typeof usage[name] === 'number' ? usage[name] : undefined);
  return defined({ promptTokens: figure('prompt_tokens'), completionTokens: figure('completion_tokens') });
};

/** The code of an error, if it is a number: other codes are the server's text. */
const codeOf = (error: Json | undefined): string => {
  const { code, status } = objectOrEmpty(error);
  const number = [code, status].find((one) => typeof one === 'number' && Number.isSafeInteger(one));
  return number === undefined ? '' : ` (code ${JSON.stringify(number)})`;
};

const causeOf = (error: Json | undefined): string => {
  const cause = causeIn(error);
  return cause === null ? '' : `: ${cause}`;
};

const parsed = (body: string): JsonObject => {
  const text = body.replace(/^\ufeff+/, '').trim();
  if (text === '') throw badAnswer('The model server answers without a text: its response is empty.');
  if (/^<[a-z!?]/i.test(text))
    throw badAnswer('The model server sent a page: the answer is HTML, not JSON. Check ANIMA_CORTEX_URL.');
  if (isStream(text)) return answerInStream(text);
  try {
    return objectOrEmpty(JSON.parse(text));
  } catch {
    throw badAnswer('The response of the model server is not JSON.');
  }
};

/** The first choice. @throws AttemptFailed if the answer is an error, or has none */
const choiceOf = (answer: JsonObject): JsonObject => {
  const { choices, error } = answer;
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
  if ((error ?? null) !== null || (first === undefined && answer['object'] === 'error'))
    throw badAnswer(
      `The model server answers with an error${codeOf(error ?? answer)}, although its status is 200${causeOf(error ?? answer)}.`,
    );
  if (!isObject(first)) throw badAnswer('The model server answers without a text: its response has no choices.');
  return first;
};

/** @throws AttemptFailed if an error or a filter ended the answer */
const requireEnded = ({ finish_reason: finish, error }: JsonObject): string => {
  const reason = typeof finish === 'string' ? finish.toLowerCase() : '';
  if ((error ?? null) !== null || BROKEN.has(reason))
    throw badAnswer(`The model server broke off the answer with an error${codeOf(error)}.`);
  if (FILTERED.has(reason)) throw badAnswer('The model server withheld the answer: its content filter stopped it.');
  return reason;
};

/** Reads the body of a model server's answer. @throws AttemptFailed if there is nothing to say or to do in it */
export const readAnswer = (body: string): ModelAnswer => {
  const answer = parsed(body);
  const choice = choiceOf(answer);
  const isCut = CUT.has(requireEnded(choice));
  const message = objectOrEmpty(choice['message'] ?? choice['delta'] ?? { content: choice['text'] ?? null });
  const { content, refusal } = message;
  const words = partsOf(content)
    .filter((part) => !isThought(part))
    .map((part) => textOf(part))
    .join('');
  const calls = callsOf(message);
  // A model that declines says so there, and would decline again.
  const written = words === '' && calls === '' && typeof refusal === 'string' ? refusal : words;
  const { text, reasoning, isEmpty } = saidIn(`${written}${calls}`, thoughtsOf(message));
  if (isEmpty)
    throw badAnswer(
      isCut && reasoning !== ''
        ? 'The model server answers without a text: the model used up its tokens for reasoning. Raise ANIMA_CORTEX_MAX_TOKENS, or let it reason less (ANIMA_CORTEX_EXTRA).'
        : 'The model server answers without a text.',
      isCut,
    );
  return {
    text,
    ...(reasoning === '' ? {} : { reasoning }),
    stats: usageOf(answer),
    needsRoom: isCut && isBrokenOff(text),
  };
};
