import type { Json } from '../base/json.js';
import { Rejection } from '../base/rejection.js';
import type { Log } from '../../ports/log.js';
import { statuses } from './statuses.js';

/** A refusal as the client sees it. */
export type ErrorAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;
};

/** Seconds, where a refusal that passes does not say when. */
const DEFAULT_RETRY_AFTER = 1;
const NO_HEADERS: Readonly<Record<string, string>> = {};
const CHALLENGE: Readonly<Record<string, string>> = { 'WWW-Authenticate': 'Bearer' };

/** The headers that a refusal's status requires. */
const headersOf = (rejection: Rejection): Readonly<Record<string, string>> => {
  const { code, retryAfter } = rejection;
  const status = statuses[code];
  if (status === 401) return CHALLENGE;
  const passes = status === 429 || status === 503;
  if (!passes && retryAfter === undefined) return NO_HEADERS;
  return { 'Retry-After': String(Math.max(1, Math.ceil(retryAfter ?? DEFAULT_RETRY_AFTER))) };
};

/** An error in the detailed shape. */
export const errorBody = (rejection: Rejection, requestId: string): Json => ({
  error: { code: rejection.code, message: rejection.message, details: rejection.details, requestId },
});

/** A refusal of the HTTP layer as an answer; `short` is the specification's form for the 403 of `POST /rules`. */
export const refusalOf = (rejection: Rejection, requestId: string, short: boolean): ErrorAnswer => ({
  status: statuses[rejection.code],
  headers: headersOf(rejection),
  body: short && statuses[rejection.code] === 403 ? { error: rejection.message } : errorBody(rejection, requestId),
});

/** What the client sees of a thrown value: a refusal as it is. Anything else is a defect, and its message stays in the log. */
export const toRejection = (thrown: unknown, log: Log, fields: object): Rejection => {
  if (thrown instanceof Rejection) return thrown;
  const err = thrown instanceof Error ? thrown : new Error(`thrown: ${String(thrown)}`);
  log.error({ err, ...fields }, 'a request failed');
  return new Rejection('INTERNAL');
};
