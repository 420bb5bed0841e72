import {
  isDomainCode,
  type DomainCode,
  type Rejection,
  type RejectionCode,
  rejectionCodes,
  type RequestCode,
  standardMessage,
} from '../base/rejection.js';

/** Messages about routes, headers, methods and bodies. */
const requestMessages: Readonly<Record<RequestCode, string>> = {
  REQUEST_UNREADABLE: 'The server cannot parse this HTTP request; details.reason says why.',
  HEADER_INVALID: 'A request header has an invalid value; details.header names it.',
  FORBIDDEN: 'This API key does not have the scope that the route requires.',
  NOT_FOUND: 'No route matches this path. GET /docs lists all routes.',
  METHOD_NOT_ALLOWED: 'This path does not support this method; details.allow lists the supported methods.',
  BODY_TOO_LARGE: 'The body is larger than this route accepts.',
  UNSUPPORTED_MEDIA_TYPE: 'Send the body with Content-Type: application/json.',
  IDEMPOTENCY_IN_PROGRESS: 'The first request with this Idempotency-Key is still running. Try again shortly.',
  IDEMPOTENCY_KEY_REUSED: 'This Idempotency-Key has already been used with another request. Use a new key.',
  RATE_LIMITED: 'This API key has sent too many requests. Wait as long as Retry-After says.',
  TOO_MANY_STREAMS: 'This API key has too many open event streams. Close one first.',
};

/** Which request helps. Each hint is appended to the standard message of its code. */
const hints: Readonly<Partial<Record<DomainCode, string>>> = {
  UNAUTHORIZED: 'Send it as "Authorization: Bearer <key>".',
  LEVEL_NOT_FOUND: 'GET /levels lists all levels.',
  PRESET_NOT_FOUND: 'GET /rules/presets lists all presets.',
  CORTEX_NOT_FOUND:
    'POST /cortex/init finds an engine by its name or its model, and GET /cortex/models lists all engines.',
  SOUL_EXPORT_NOT_FOUND: 'Start one with POST /npcs/{npcId}/soul/export.',
  SOUL_IMPORT_NOT_FOUND: 'Start one with POST /npcs/import.',
  CHECKPOINT_NOT_FOUND: 'POST /audit/checkpoints creates one after something has been written.',
  LEVELS_FULL: 'DELETE /levels/{levelId}?versions=all frees space. A new levelId starts again at version 1.',
  ENGINE_UNAVAILABLE: 'If it opens a turn, use the same Idempotency-Key.',
  ARCHIVE_UNAVAILABLE: 'If it has an Idempotency-Key, use the same one.',
};

const clientMessage = (code: RejectionCode): string => {
  if (!isDomainCode(code)) return requestMessages[code];
  const hint = hints[code];
  return hint === undefined ? standardMessage(code) : `${standardMessage(code)} ${hint}`;
};

/** The message of every code as clients see it, unless a refusal has its own message. */
export const rejections = Object.fromEntries(rejectionCodes.map((code) => [code, clientMessage(code)])) as Readonly<
  Record<RejectionCode, string>
>;

/** The message of one refusal as the client sees it. */
export const clientMessageOf = ({ code, message }: Rejection): string =>
  message === standardMessage(code) ? rejections[code] : message;
