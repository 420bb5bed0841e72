import { GivenUp, withDeadline } from './deadline.js';
import { InferenceError, type CompletionRequest, type Inference } from './inference.js';
import type { FetchLike } from './mind-request.js';

export type OpenAiOptions = {
  /** The API's root with its version, for example `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey?: string;
  /** `chat` posts to `/chat/completions` (the default), `completions` to `/completions`. */
  readonly endpoint?: 'chat' | 'completions';
  /** For the complete call, including the body of the answer. */
  readonly timeoutMs?: number;
  readonly maxAnswerBytes?: number;
  readonly fetch?: FetchLike;
};

const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_MAX_ANSWER_BYTES = 1_048_576;

const isMembers = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The request's body in the names of the OpenAI API; a constraint of the wrong type is left out. */
const bodyOf = ({ prompt, constraints, ctxMessages }: CompletionRequest, options: OpenAiOptions): string => {
  const maxTokens = constraints['maxTokens'];
  const temperature = constraints['temperature'];
  const stop = constraints['stop'];
  const messages = ctxMessages ?? [{ role: 'user', content: prompt }];
  return JSON.stringify({
    model: options.model,
    ...(options.endpoint === 'completions' ? { prompt } : { messages }),
    ...(typeof maxTokens === 'number' ? { max_tokens: maxTokens } : {}),
    ...(typeof temperature === 'number' ? { temperature } : {}),
    ...(typeof stop === 'string' || Array.isArray(stop) ? { stop } : {}),
    stream: false,
  });
};

/** Reads an answer up to the bound; beyond it the connection is closed. */
const readBounded = async (response: Response, maxBytes: number): Promise<string> => {
  if (response.body === null) return '';
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.byteLength;
    if (size > maxBytes) {
      await reader.cancel();
      throw new InferenceError(
        'too-large',
        `The response of the model server is larger than ${String(maxBytes)} bytes.`,
      );
    }
    text += decoder.decode(value, { stream: true });
  }
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new InferenceError('bad-answer', 'The response of the model server is not JSON.', cause);
  }
};

/** The text of a message in parts; its parts of other types, such as `thinking`, are not spoken. */
const textOfParts = (parts: readonly unknown[]): string =>
  parts
    .map((part) => (isMembers(part) && part['type'] === 'text' && typeof part['text'] === 'string' ? part['text'] : ''))
    .join('');

/** The text of the first choice: `message.content` of a chat, `text` of a completion. */
const textOf = (answer: unknown): string => {
  const choices = isMembers(answer) ? answer['choices'] : undefined;
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
  if (!isMembers(first)) throw new InferenceError('bad-answer', 'The response of the model server contains no choice.');
  const message = first['message'];
  const content = isMembers(message) ? message['content'] : first['text'];
  const text = Array.isArray(content) ? textOfParts(content) : content;
  if (typeof text !== 'string')
    throw new InferenceError('bad-answer', 'The first choice of the model server contains no text.');
  return text;
};

/**
 * A model behind any OpenAI-compatible URL. Every failure is an `InferenceError`. Its message contains neither the key nor the server's text. No call
 * outlives `timeoutMs`.
 */
export const createOpenAiInference = (options: OpenAiOptions): Inference => {
  const send: FetchLike = options.fetch ?? fetch;
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const url = `${options.baseUrl.replace(/\/+$/, '')}/${options.endpoint === 'completions' ? '' : 'chat/'}completions`;

  const ask = async (request: CompletionRequest, signal: AbortSignal): Promise<string> => {
    const response = await send(url, {
      method: 'POST',
      // A redirect could carry the key to another host; it is a bad status here.
      redirect: 'manual',
      signal,
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        ...(options.apiKey === undefined ? {} : { authorization: `Bearer ${options.apiKey}` }),
      },
      body: bodyOf(request, options),
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new InferenceError('bad-status', `The model server responded with HTTP ${String(response.status)}.`);
    }
    return textOf(parse(await readBounded(response, options.maxAnswerBytes ?? DEFAULT_MAX_ANSWER_BYTES)));
  };

  return {
    complete: async (request) => {
      try {
        return await withDeadline(timeoutMs, request.signal, (signal) => ask(request, signal));
      } catch (cause) {
        if (cause instanceof InferenceError) throw cause;
        if (!(cause instanceof GivenUp))
          throw new InferenceError(
            'unreachable',
            'The model server is unreachable or closed the connection early.',
            cause,
          );
        if (cause.why === 'aborted') throw new InferenceError('aborted', 'The model call was cancelled.', cause);
        throw new InferenceError('timeout', `The model server did not answer within ${String(timeoutMs)} ms.`, cause);
      }
    },
  };
};
