import { isObject, type JsonObject } from '../../kernel/base/json.js';
import { defined } from '../../kernel/base/defined.js';
import { messagesOf } from '../../ports/messages-of.js';
import type { Completed, Completion } from '../../ports/cortex.js';
import { boundedText } from '../shared/bounded-text.js';

/** The maximum size of an answer, in bytes; the longest completion is far shorter. */
const MAX_ANSWER_BYTES = 1024 * 1024;
/** The maximum number of stop strings that model servers accept. */
const MAX_STOPS = 4;

/** Where a model server is, and the model to request. `url` ends in `/v1`. */
export type ModelServer = { readonly url: string; readonly model: string; readonly key: string | null };

/** Why one attempt returned no text. `reason`: a message with neither the key nor the server's text. */
export class AttemptFailed extends Error {
  readonly reason: string;
  /** The HTTP status; null if there was no answer, or it was cut off. With a status of success, the response contained no text. */
  readonly status: number | null;
  /** `Retry-After` in milliseconds, 0 without one. */
  readonly retryAfterMs: number;

  constructor(reason: string, status: number | null = null, retryAfterMs = 0) {
    super(reason);
    this.name = 'AttemptFailed';
    this.reason = reason;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

const bodyOf = (model: string, asked: Completion, schema: JsonObject | undefined): string =>
  JSON.stringify({
    model,
    messages: messagesOf(asked.prompt),
    ...defined({
      max_tokens: asked.maxTokens,
      temperature: asked.temperature,
      stop: asked.stop === undefined || asked.stop.length === 0 ? undefined : asked.stop.slice(0, MAX_STOPS),
      response_format:
        schema === undefined ? undefined : { type: 'json_schema', json_schema: { name: 'answer', schema } },
    }),
    stream: false,
  });

/** `Retry-After` in seconds, as model servers send it; a date counts as none. */
const retryAfterMs = (response: Response): number => {
  const header = response.headers.get('retry-after') ?? '';
  return /^\d{1,6}(\.\d+)?$/.test(header) ? Number(header) * 1000 : 0;
};

const statusReason = (status: number): string => {
  if (status === 401) return 'The model server rejected the key (ANIMA_CORTEX_KEY).';
  if (status === 403)
    return 'The model server rejected the request with HTTP 403: the key (ANIMA_CORTEX_KEY) lacks a permission, or the prompt is not allowed.';
  if (status === 404)
    return 'The model server does not have the model (ANIMA_CORTEX_MODEL) or the path (ANIMA_CORTEX_URL).';
  if (status === 429) return 'The model server is rate limiting requests (HTTP 429).';
  return `The model server responded with HTTP ${String(status)}.`;
};

/** The numbers of `usage`, under this server's names. */
const usageOf = (answer: JsonObject): Readonly<Record<string, number>> => {
  const usage = isObject(answer['usage']) ? answer['usage'] : {};
  const figure = (name: string): number | undefined => (typeof usage[name] === 'number' ? usage[name] : undefined);
  return defined({ promptTokens: figure('prompt_tokens'), completionTokens: figure('completion_tokens') });
};

/** The server is up, but this one answer cannot be used. */
const badAnswer = (reason: string): AttemptFailed => new AttemptFailed(reason, 200);

const completedOf = (text: string): Completed => {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    throw badAnswer('The response of the model server is not JSON.');
  }
  const choices = isObject(answer) ? answer['choices'] : null;
  const first: unknown = Array.isArray(choices) ? choices[0] : null;
  const message = isObject(first) ? first['message'] : null;
  const { content = null, refusal = null } = isObject(message) ? message : {};
  // A model that declines says so there, and would decline again.
  const words = typeof content === 'string' ? content : refusal;
  if (typeof words !== 'string') throw badAnswer('The response of the model server contains no text.');
  return { text: words, stats: usageOf(answer as JsonObject) };
};

/**
 * Calls a model server once.
 * @param schema the shape that the server must constrain the model to
 * @throws AttemptFailed, or the signal's reason
 */
export const callModelServer = async (
  server: ModelServer,
  asked: Completion,
  schema: JsonObject | undefined,
  signal: AbortSignal,
): Promise<Completed> => {
  try {
    const response = await fetch(`${server.url}/chat/completions`, {
      method: 'POST',
      // A redirect could carry the key to another host; it is a bad status here.
      redirect: 'manual',
      signal,
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        ...(server.key === null ? {} : { authorization: `Bearer ${server.key}` }),
      },
      body: bodyOf(server.model, asked, schema),
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new AttemptFailed(statusReason(response.status), response.status, retryAfterMs(response));
    }
    const text = await boundedText(response, MAX_ANSWER_BYTES);
    if (text === null) throw badAnswer('The response of the model server is too large.');
    return completedOf(text);
  } catch (error) {
    if (error instanceof AttemptFailed) throw error;
    signal.throwIfAborted();
    throw new AttemptFailed('The model server is unreachable or closed the connection early.');
  }
};
