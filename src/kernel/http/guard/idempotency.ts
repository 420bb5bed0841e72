import { inSlices } from '../../concurrency/in-slices.js';
import { jcsSlices } from '../../base/jcs-slices.js';
import { isObject, type Json, jsonBytes } from '../../base/json.js';
import { Rejection } from '../../base/rejection.js';
import type {
  IdempotencyStore,
  AnswerRetention,
  StoredAnswer,
  KeyedRequest,
} from '../../../ports/idempotency-store.js';
import type { Log } from '../../../ports/log.js';
import { isVisible } from './request-id.js';
import { sha256Base64url } from '../../crypto/sha256.js';

/** Whether to run the request under a seed, or to replay the first response. */
export type KeyUse =
  | { readonly kind: 'run'; readonly seed: string; readonly resumed: boolean; readonly done: boolean }
  | { readonly kind: 'repeat'; readonly answer: StoredAnswer };

/** After how many seconds the first request may have finished. */
const RETRY_AFTER = 1;

/**
 * Identifies a request by API key, method and concrete path, and its body by the digest of its JCS form. The path is decoded, so it does not matter
 * how a proxy escapes it. It yields to other work, because a body may have 16 MiB.
 * @param header a header that belongs to what is asked; undefined if there is none
 * @throws Rejection HEADER_INVALID
 */
export const repeatable = async (
  key: string,
  tenant: string,
  route: readonly string[],
  body: Json,
  header?: string,
): Promise<KeyedRequest> => {
  if (!isVisible(key)) {
    throw new Rejection('HEADER_INVALID', {
      message: 'Idempotency-Key must be 1 to 128 visible ASCII characters.',
      details: { header: 'Idempotency-Key' },
    });
  }
  const content = await inSlices(jcsSlices(body));
  // Two values one after the other are no JSON, so no body alone has this digest.
  const asked = header === undefined ? content : Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), content]);
  return { tenant, scope: JSON.stringify(route), key, digest: sha256Base64url(asked) };
};

/**
 * Reserves the key durably before anything else happens.
 * @throws Rejection IDEMPOTENCY_IN_PROGRESS, IDEMPOTENCY_KEY_REUSED
 */
export const reserve = async (store: IdempotencyStore, request: KeyedRequest, newSeed: string): Promise<KeyUse> => {
  const reservation = await store.reserve(request, newSeed);
  if (reservation.kind === 'running') throw new Rejection('IDEMPOTENCY_IN_PROGRESS', { retryAfter: RETRY_AFTER });
  if (reservation.kind === 'reused') throw new Rejection('IDEMPOTENCY_KEY_REUSED');
  return reservation.kind === 'run' ? reservation : { kind: 'repeat', answer: reservation.answer };
};

/** The limit for the details of a stored refusal in bytes of JSON, because they may quote much of the request. */
const DETAILS_KEPT_BYTES = 4_096;

const withFewDetails = (refusal: StoredAnswer): StoredAnswer => {
  const { body } = refusal;
  if (!isObject(body) || !isObject(body['error'])) return refusal;
  const { error } = body;
  if (error['details'] === undefined || jsonBytes(error['details']) <= DETAILS_KEPT_BYTES) return refusal;
  return { ...refusal, body: { ...body, error: { ...error, details: {} } } };
};

/**
 * Stores the response of a request that has run. A temporary refusal (`isPermanent` false) is not stored: its key is released, because a retry may
 * succeed. If the store fails, the client still gets its response; the key stays reserved with its seed, so a retry after the next start completes
 * the same command.
 */
export const settle = async (
  store: IdempotencyStore,
  request: KeyedRequest,
  answer: StoredAnswer,
  { retention, isPermanent }: { readonly retention: AnswerRetention; readonly isPermanent: boolean },
  log: Log,
): Promise<void> => {
  try {
    if (!isPermanent) await store.release(request);
    else if (answer.status < 400 || retention !== 'within-budget') await store.complete(request, answer, retention);
    // A refusal records nothing, so if it were not stored, a retry could later succeed.
    else await store.complete(request, withFewDetails(answer), 'always');
  } catch (err) {
    log.error({ err }, 'The response for an Idempotency-Key could not be stored');
  }
};

/** A stored error gets the id of the current request: `requestId` equals `X-Request-Id` in every response. */
export const repeatedBody = (answer: StoredAnswer, requestId: string): Json => {
  const { body } = answer;
  if (answer.status < 400 || !isObject(body) || !isObject(body['error'])) return body;
  return { ...body, error: { ...body['error'], requestId } };
};
