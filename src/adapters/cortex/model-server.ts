import type { JsonObject } from '../../kernel/base/json.js';
import { defined } from '../../kernel/base/defined.js';
import { messagesOf } from '../../ports/messages-of.js';
import type { Completion } from '../../ports/cortex.js';
import { boundedText } from '../shared/bounded-text.js';
import { AttemptFailed, badAnswer } from './attempt-failed.js';
import { type ModelAnswer, readAnswer } from './read-answer.js';

/** The maximum size of an answer, in bytes; the longest completion is far shorter. */
const MAX_ANSWER_BYTES = 1024 * 1024;
/** The maximum number of stop strings that model servers accept. */
const MAX_STOPS = 4;

/** Where a model server is, and the model to request. `url` ends in `/v1`. */
export type ModelServer = { readonly url: string; readonly model: string; readonly key: string | null };

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
): Promise<ModelAnswer> => {
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
    return readAnswer(text);
  } catch (error) {
    if (error instanceof AttemptFailed) throw error;
    signal.throwIfAborted();
    throw new AttemptFailed('The model server is unreachable or closed the connection early.');
  }
};
