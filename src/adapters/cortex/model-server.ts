import type { JsonObject } from '../../kernel/base/json.js';
import type { CortexEngine } from '../../ports/cortex.js';
import { hearingStream } from './answer-stream.js';
import { boundedText } from '../shared/bounded-text.js';
import { AttemptFailed, badAnswer, type RefusedMember } from './attempt-failed.js';
import { type ModelAnswer, readAnswer } from './read-answer.js';
import { refusedMember } from './refused-member.js';

/** The maximum size of an answer, in bytes; the longest completion is far shorter. */
const MAX_ANSWER_BYTES = 1024 * 1024;
/** How much of an error is read, in bytes: enough to find the member that it names. */
const MAX_ERROR_BYTES = 16_384;

/** Where a model server is, and the model to request. `url` ends in `/v1`. */
export type ModelServer = {
  readonly url: string;
  readonly model: string;
  readonly key: string | null;
  /** ANIMA_CORTEX_EXTRA: more members of each request. */
  readonly extra?: JsonObject;
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

const statusReason = (status: number): string => {
  if (status === 401) return 'The model server rejected the key (ANIMA_CORTEX_KEY).';
  if (status === 403)
    return 'The model server rejected the request with HTTP 403: the key (ANIMA_CORTEX_KEY) lacks a permission, or the prompt is not allowed.';
  if (status === 404)
    return 'The model server does not have the model (ANIMA_CORTEX_MODEL) or the path (ANIMA_CORTEX_URL).';
  if (status === 429) return 'The model server is rate limiting requests (HTTP 429).';
  if (status === 400 || status === 413 || status === 422)
    return `The model server refuses the request: HTTP ${String(status)}.`;
  return `The model server responded with HTTP ${String(status)}.`;
};

/** The member of a request that an error with this status is about. Its text goes nowhere else: it may repeat the prompt. */
const memberIn = async (response: Response, body: JsonObject): Promise<RefusedMember | null> => {
  if (!MAY_NAME_MEMBER.has(response.status)) {
    await response.body?.cancel();
    return null;
  }
  const text = await boundedText(response, MAX_ERROR_BYTES);
  return text === null ? null : refusedMember(text, body);
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
    if (!response.ok) {
      const { status } = response;
      const member = await memberIn(response, body);
      throw new AttemptFailed(statusReason(status), status, retryAfterMs(response), false, member);
    }
    const hear = onText === undefined ? () => undefined : hearingStream(onText);
    const text = await boundedText(response, MAX_ANSWER_BYTES, hear);
    if (text === null) throw badAnswer('The response of the model server is too large.');
    return readAnswer(text);
  } catch (error) {
    if (error instanceof AttemptFailed) throw error;
    signal.throwIfAborted();
    throw new AttemptFailed('The model server is unreachable or closed the connection early.');
  }
};
