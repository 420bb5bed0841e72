import type { JsonObject } from '../../kernel/base/json.js';
import type { CortexEngine } from '../../ports/cortex.js';
import { hearingStream } from './answer-stream.js';
import { boundedText } from '../shared/bounded-text.js';
import { AttemptFailed, badAnswer } from './attempt-failed.js';
import { contextInError } from './context-in-error.js';
import { causeInBody, TOO_LONG } from './error-cause.js';
import { type ModelAnswer, readAnswer } from './read-answer.js';
import { refusedMember } from './refused-member.js';

/** The maximum size of an answer, in bytes; the longest completion is far shorter. */
const MAX_ANSWER_BYTES = 1024 * 1024;
/** How much of an error is read, in bytes: enough to find what it is about. */
const MAX_ERROR_BYTES = 16_384;

/** Where a model server is, and the model to request. `url` ends in `/v1`. */
export type ModelServer = {
  readonly url: string;
  readonly model: string;
  readonly key: string | null;
  /** ANIMA_CORTEX_EXTRA: more members of each request. */
  readonly extra?: JsonObject;
  /** ANIMA_CORTEX_CONTEXT_TOKENS: how many tokens of prompt and answer the model takes. */
  readonly contextTokens?: number;
  /** ANIMA_CORTEX_MAX_TOKENS and ANIMA_CORTEX_TEMPERATURE. */
  readonly inTurns?: CortexEngine['inTurns'];
};

/** `Retry-After` in seconds, as model servers send it; a date counts as none. */
const retryAfterMs = (response: Response): number => {
  const header = response.headers.get('retry-after') ?? '';
  return /^\d{1,6}(\.\d+)?$/.test(header) ? Number(header) * 1000 : 0;
};

/** Bad Request, Unprocessable Content, Not Implemented. */
const MAY_NAME_MEMBER: ReadonlySet<number> = new Set([400, 422, 501]);

/** @param cause what the error is about, if that is known */
const statusReason = (status: number, cause: string | null): string => {
  const http = `HTTP ${String(status)}${cause === null ? '' : `, ${cause}`}`;
  if (status === 401) return 'The model server rejected the key (ANIMA_CORTEX_KEY).';
  if (status === 403 && cause === null)
    return 'The model server rejected the request with HTTP 403: the key (ANIMA_CORTEX_KEY) lacks a permission, or the prompt is not allowed.';
  if (status === 404 && cause === null)
    return 'The model server does not have the model (ANIMA_CORTEX_MODEL) or the path (ANIMA_CORTEX_URL).';
  if (status === 429) return `The model server is rate limiting requests (${http}).`;
  if (status >= 400 && status < 500) return `The model server refuses the request: ${http}.`;
  return `The model server responded with ${http}.`;
};

/** The body of an error; empty if it cannot be read. */
const errorText = async (response: Response, signal: AbortSignal): Promise<string> => {
  try {
    return (await boundedText(response, MAX_ERROR_BYTES)) ?? '';
  } catch {
    signal.throwIfAborted();
    return '';
  }
};

/** Why a server refused a request. The text of its error goes nowhere else: it may repeat the prompt. */
const refusalIn = async (response: Response, body: JsonObject, signal: AbortSignal): Promise<AttemptFailed> => {
  const { status } = response;
  const text = await errorText(response, signal);
  const member = MAY_NAME_MEMBER.has(status) ? refusedMember(text, body) : null;
  const cause = causeInBody(text);
  const tooLongFor = cause === TOO_LONG || (status === 413 && cause === null) ? contextInError(text) : undefined;
  return new AttemptFailed(statusReason(status, cause), status, retryAfterMs(response), false, member, tooLongFor);
};

/** The code of a connection's failure, such as ECONNREFUSED. */
const failureCode = ({ cause }: Error): string => {
  const code = (cause as { readonly code?: unknown } | undefined)?.code;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(code) ? ` (${code})` : '';
};

/**
 * Calls a model server once.
 * @param onText gets what the server has sent of its text so far, if it streams
 * @throws AttemptFailed, or the signal's reason
 */
export const callModelServer = async (
  server: ModelServer,
  body: JsonObject,
  signal: AbortSignal,
  onText?: (text: string) => void,
): Promise<ModelAnswer> => {
  try {
    const response = await fetch(`${server.url}/chat/completions`, {
      method: 'POST',
      // A redirect could carry the key to another host; it is a bad status here.
      redirect: 'manual',
      signal,
      headers: {
        accept: onText === undefined ? 'application/json' : 'text/event-stream, application/json',
        'content-type': 'application/json',
        ...(server.key === null ? {} : { authorization: `Bearer ${server.key}` }),
      },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw await refusalIn(response, body, signal);
    const hear = onText === undefined ? () => undefined : hearingStream(onText);
    const text = await boundedText(response, MAX_ANSWER_BYTES, hear);
    if (text === null) throw badAnswer('The response of the model server is too large.');
    return readAnswer(text);
  } catch (error) {
    if (error instanceof AttemptFailed) throw error;
    signal.throwIfAborted();
    const code = error instanceof Error ? failureCode(error) : '';
    throw new AttemptFailed(`The model server is unreachable or closed the connection early${code}.`);
  }
};
