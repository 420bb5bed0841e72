import type { Json } from '../base/json.js';
import { Rejection } from '../base/rejection.js';
import type { Log } from '../../ports/log.js';
import { clientMessageOf } from './rejections.js';
import { statuses } from './statuses.js';

/** A refusal as an HTTP response. */
export type ErrorAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;
};

/** In seconds, for a temporary refusal without its own retry time. */
const DEFAULT_RETRY_AFTER = 1;
const NO_HEADERS: Readonly<Record<string, string>> = {};
const CHALLENGE: Readonly<Record<string, string>> = { 'WWW-Authenticate': 'Bearer' };

/** Whether the same request may succeed later; only then does the response have `Retry-After`. */
const isTemporary = ({ code, retryAfter }: Rejection): boolean =>
  statuses[code] === 429 || statuses[code] === 503 || retryAfter !== undefined;

/** Whether the same request gets the same refusal again. A temporary refusal and a defect (500) are not permanent. */
export const isPermanent = (rejection: Rejection): boolean => statuses[rejection.code] < 500 && !isTemporary(rejection);

/** The headers that a refusal's status requires. */
const headersOf = (rejection: Rejection): Readonly<Record<string, string>> => {
  const { code, retryAfter } = rejection;
  if (statuses[code] === 401) return CHALLENGE;
  if (!isTemporary(rejection)) return NO_HEADERS;
  return { 'Retry-After': String(Math.max(1, Math.ceil(retryAfter ?? DEFAULT_RETRY_AFTER))) };
};

/** An error in the detailed shape. */
export const errorBody = (rejection: Rejection, requestId: string): Json => ({
  error: { code: rejection.code, message: clientMessageOf(rejection), details: rejection.details, requestId },
});

/** A refusal of the HTTP layer as a response; `short` is the specification's form for the 403 of `POST /rules`. */
export const refusalOf = (rejection: Rejection, requestId: string, short: boolean): ErrorAnswer => ({
  status: statuses[rejection.code],
  headers: headersOf(rejection),
  body:
    short && statuses[rejection.code] === 403 ? { error: clientMessageOf(rejection) } : errorBody(rejection, requestId),
});

/** The log message of a defect. Logs and tests find defects by it. */
export const REQUEST_FAILED = 'Request failed';

/** Converts a thrown value to a refusal. Anything but a refusal is a defect, whose message is only logged. */
export const toRejection = (thrown: unknown, log: Log, fields: object): Rejection => {
  if (thrown instanceof Rejection) return thrown;
  const err = thrown instanceof Error ? thrown : new Error(`thrown: ${String(thrown)}`);
  log.error({ err, ...fields }, REQUEST_FAILED);
  return new Rejection('INTERNAL');
};
