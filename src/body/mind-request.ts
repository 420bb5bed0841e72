import { GivenUp, sleepFor, withDeadline } from './deadline.js';
import type { JsonMembers } from './protocol.js';

/** The part of `fetch` that the body uses; a test or a game backend passes its own. */
export type FetchLike = (url: string, init: RequestInit) => Promise<Response>;

/**
 * A request without a usable answer. `code` is the server's stable error code, or one of the client's own: `UNREACHABLE`, `TIMEOUT`, `ABORTED`,
 * `BAD_ANSWER`. `status` is 0 if no answer came.
 */
export class MindError extends Error {
  readonly code: string;
  readonly status: number;
  readonly details: JsonMembers;
  /** The id to quote to the server's operator; null if no answer came. */
  readonly requestId: string | null;
  /** Seconds after which a repeat makes sense, according to the server. */
  readonly retryAfter: number | null;

  constructor(
    code: string,
    message: string,
    more: {
      status?: number;
      details?: JsonMembers;
      requestId?: string | null;
      retryAfter?: number | null;
      cause?: unknown;
    } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = 'MindError';
    this.code = code;
    this.status = more.status ?? 0;
    this.details = more.details ?? {};
    this.requestId = more.requestId ?? null;
    this.retryAfter = more.retryAfter ?? null;
  }
}

export type MindRequestOptions = {
  /** For example `http://127.0.0.1:8080`. */
  readonly baseUrl: string;
  /** The API key; absent only for routes that need none. */
  readonly key?: string;
  readonly fetch?: FetchLike;
  /** Per request, including the body of the answer. */
  readonly timeoutMs?: number;
  /** Waits between the attempts of a request with an Idempotency-Key. */
  readonly sleep?: (ms: number) => Promise<void>;
};

export type CallOptions = {
  /** Makes a repeat safe. Only with it does the client repeat a request whose answer was lost. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
  /** The media type of a body of bytes, which is sent as it is. */
  readonly contentType?: string;
  /** The media type of an answer that is not JSON: it is returned as text. */
  readonly accept?: string;
  /** Called with the `cursor` of the next page if the response is a page of a list and not the last one. */
  readonly onMore?: (cursor: string) => void;
};

/** Sends one request and returns the parsed answer, or its text with `accept`; `null` if it has no body. @throws MindError */
export type MindRequest = (method: string, path: string, body?: unknown, call?: CallOptions) => Promise<unknown>;

const DEFAULT_TIMEOUT_MS = 15_000;
const MAX_ATTEMPTS = 3;
const DEFAULT_RETRY_WAIT_MS = 500;
const MAX_RETRY_WAIT_MS = 10_000;

const isMembers = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const seconds = (header: string | null): number | null =>
  header !== null && /^\d{1,6}$/.test(header) ? Number(header) : null;

const parse = (text: string, response: Response): unknown => {
  if (text === '') return null;
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new MindError(
      'BAD_ANSWER',
      `The server responded with HTTP ${String(response.status)} and a body that is not JSON.`,
      {
        status: response.status,
        requestId: response.headers.get('x-request-id'),
        retryAfter: seconds(response.headers.get('retry-after')),
        cause,
      },
    );
  }
};

/** The cursor of a `Link` to the next page. The rest of the link is ignored: a proxy in front of the server may have other paths. */
const nextCursor = (link: string | null): string | null => {
  const [, target = ''] = /<([^<>]*)>;\s*rel="next"/.exec(link ?? '') ?? [];
  const query = target.slice(target.indexOf('?') + 1);
  return new URLSearchParams(query).get('cursor');
};

/** The error of an answer with a bad status; its body is `{error: {code, message, ...}}` or, on one route, `{error: "<sentence>"}`. */
const refusal = (response: Response, body: unknown): MindError => {
  const error = isMembers(body) ? body['error'] : undefined;
  const members = isMembers(error) ? error : {};
  const text = typeof error === 'string' ? error : members['message'];
  return new MindError(
    typeof members['code'] === 'string' ? members['code'] : `HTTP_${String(response.status)}`,
    typeof text === 'string' ? text : `The server responded with HTTP ${String(response.status)}.`,
    {
      status: response.status,
      details: isMembers(members['details']) ? (members['details'] as JsonMembers) : {},
      requestId: response.headers.get('x-request-id'),
      retryAfter: seconds(response.headers.get('retry-after')),
    },
  );
};

const lost = (cause: unknown, timeoutMs: number): MindError => {
  if (cause instanceof MindError) return cause;
  if (!(cause instanceof GivenUp))
    return new MindError('UNREACHABLE', 'The server is unreachable or closed the connection early.', { cause });
  return cause.why === 'aborted'
    ? new MindError('ABORTED', 'The caller cancelled the request.', { cause })
    : new MindError('TIMEOUT', `The server did not answer within ${String(timeoutMs)} ms.`, { cause });
};

/** Whether a repeat with the same Idempotency-Key may return the answer: it was lost, or the server asked the client to wait. */
const mayRepeat = (error: MindError): boolean =>
  error.code === 'TIMEOUT' ||
  error.code === 'UNREACHABLE' ||
  error.status === 503 ||
  error.code === 'IDEMPOTENCY_IN_PROGRESS';

/**
 * Makes the function that sends requests to a mind server. It repeats only a request that carries an Idempotency-Key, at most twice, if the answer
 * was lost or the server asked the client to wait.
 */
export const createMindRequest = (options: MindRequestOptions): MindRequest => {
  const send: FetchLike = options.fetch ?? fetch;
  const sleep = options.sleep ?? sleepFor;
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const base = options.baseUrl.replace(/\/+$/, '');

  const once: MindRequest = async (method, path, body, call) => {
    const init: RequestInit = {
      method,
      redirect: 'manual',
      headers: {
        accept: call?.accept ?? 'application/json',
        ...(options.key === undefined ? {} : { authorization: `Bearer ${options.key}` }),
        ...(body === undefined ? {} : { 'content-type': call?.contentType ?? 'application/json' }),
        ...(call?.idempotencyKey === undefined ? {} : { 'idempotency-key': call.idempotencyKey }),
      },
      ...(body === undefined
        ? {}
        : { body: call?.contentType === undefined ? JSON.stringify(body) : (body as Uint8Array<ArrayBuffer>) }),
    };
    try {
      return await withDeadline(timeoutMs, call?.signal, async (signal) => {
        const response = await send(base + path, { ...init, signal });
        const text = await response.text();
        const answer = response.ok && call?.accept !== undefined ? text : parse(text, response);
        if (!response.ok) throw refusal(response, answer);
        const cursor = nextCursor(response.headers.get('link'));
        if (cursor !== null) call?.onMore?.(cursor);
        return answer;
      });
    } catch (cause) {
      throw lost(cause, timeoutMs);
    }
  };

  return async (method, path, body, call) => {
    const attempts = call?.idempotencyKey === undefined ? 1 : MAX_ATTEMPTS;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await once(method, path, body, call);
      } catch (error) {
        if (!(error instanceof MindError) || attempt >= attempts || !mayRepeat(error)) throw error;
        const wait = error.retryAfter === null ? DEFAULT_RETRY_WAIT_MS : error.retryAfter * 1000;
        await sleep(Math.min(wait, MAX_RETRY_WAIT_MS));
      }
    }
  };
};
