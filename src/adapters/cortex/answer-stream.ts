import { isObject, type Json, type JsonObject, objectOrEmpty } from '../../kernel/base/json.js';
import { badAnswer } from './attempt-failed.js';

/** How many lines of a stream are read. */
const LINES = 16_384;
/** Lines of a stream of events that hold no data, and the data that ends it. */
const SKIPPED = /^(?::|event:|id:|retry:)|^(?:data:)?\s*(?:\[DONE\])?$/;

/** Whether a body is a stream: of events that nobody asked for, or of lines of JSON. */
export const isStream = (body: string): boolean => /^(?::|data:|event:|\{[^\n]*\}\s*\n\s*\{)/.test(body);

type Call = { name: string; arguments: string };
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Puts the pieces of a stream together, into the answer as a server sends it that does not stream. */
const gathering = () => {
  const members = new Map<string, Json[]>();
  const calls = new Map<number, Call>();
  let finish: Json = null;
  let usage: Json = null;
  let error: Json = null;
  let hasChoice = false;

  const addCall = (call: JsonObject, place: number): void => {
    const index = typeof call['index'] === 'number' ? call['index'] : place;
    const called = objectOrEmpty(call['function']);
    const known = calls.get(index) ?? { name: '', arguments: '' };
    known.name += textOf(called['name']);
    known.arguments += isObject(called['arguments'])
      ? JSON.stringify(called['arguments'])
      : textOf(called['arguments']);
    calls.set(index, known);
  };
  const addMember = (name: string, value: Json): void => {
    const parts = members.get(name) ?? [];
    parts.push(value);
    members.set(name, parts);
  };
  return {
    add: (piece: JsonObject): void => {
      usage = piece['usage'] ?? usage;
      error = piece['error'] ?? error;
      const { choices } = piece;
      const choice: unknown = Array.isArray(choices) ? choices[0] : isObject(piece['message']) ? piece : undefined;
      if (!isObject(choice)) return;
      hasChoice = true;
      finish = choice['finish_reason'] ?? choice['done_reason'] ?? finish;
      error = choice['error'] ?? error;
      const message = objectOrEmpty(choice['delta'] ?? choice['message'] ?? { content: choice['text'] ?? null });
      for (const [name, value] of Object.entries(message)) {
        if (name !== 'role' && name !== 'tool_calls' && value !== null) addMember(name, value);
      }
      const called = message['tool_calls'];
      if (!Array.isArray(called)) return;
      for (const [place, call] of (called as readonly Json[]).entries()) addCall(objectOrEmpty(call), place);
    },
    answer: (): JsonObject => {
      const message = Object.fromEntries(
        [...members].map(([name, parts]): [string, Json] => [
          name,
          parts.every((part) => typeof part === 'string') ? parts.join('') : parts.flat(),
        ]),
      );
      const choice = {
        message: { ...message, tool_calls: [...calls.values()].map((call) => ({ function: { ...call } })) },
        finish_reason: finish,
        error,
      };
      return hasChoice ? { choices: [choice], usage } : { choices: [], usage, error };
    },
  };
};

/** How long a line may be that is read before the whole answer is there, in UTF-16 units. */
const LINE_CHARS = 65_536;

/** The piece in a line; null if it holds none. @throws SyntaxError if it is no JSON */
const pieceIn = (line: string): JsonObject | null =>
  SKIPPED.test(line) ? null : objectOrEmpty(JSON.parse(line.replace(/^data:/, '')));

/**
 * Reads a stream while it arrives.
 * @param onText gets the text so far, whenever there is more
 * @returns takes the bytes. It reads no further after a line that is too long or no JSON: the whole answer is judged later
 */
export const hearingStream = (onText: (text: string) => void): ((chunk: Uint8Array) => void) => {
  const decoder = new TextDecoder();
  let line = '';
  let text = '';
  let isBroken = false;
  const add = (complete: string): boolean => {
    const choices = pieceIn(complete)?.['choices'];
    const choice = objectOrEmpty(Array.isArray(choices) ? choices[0] : undefined);
    const more = objectOrEmpty(choice['delta'])['content'] ?? choice['text'];
    if (typeof more !== 'string' || more === '') return false;
    text += more;
    return true;
  };
  return (chunk) => {
    if (isBroken) return;
    const [first = '', ...rest] = decoder.decode(chunk, { stream: true }).split(/\r?\n|\r/);
    const lines = [line + first, ...rest];
    line = lines.pop() ?? '';
    try {
      const grew = lines.map(add).includes(true);
      isBroken = line.length > LINE_CHARS;
      if (grew) onText(text);
    } catch {
      isBroken = true;
    }
  };
};

/** The answer in a stream. @throws AttemptFailed if a line is no JSON, or there are too many */
export const answerInStream = (body: string): JsonObject => {
  const lines = body.split(/\r?\n|\r/, LINES + 1);
  if (lines.length > LINES) throw badAnswer('The response of the model server is too large.');
  const gathered = gathering();
  for (const line of lines) {
    try {
      const piece = pieceIn(line);
      if (piece !== null) gathered.add(piece);
    } catch {
      throw badAnswer('The response of the model server is a broken stream.');
    }
  }
  return gathered.answer();
};
