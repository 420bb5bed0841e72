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

/** What to do with it: run it under this seed, or give the first answer again. */
export type KeyUse =
  | { readonly kind: 'run'; readonly seed: string; readonly resumed: boolean; readonly done: boolean }
  | { readonly kind: 'repeat'; readonly answer: StoredAnswer };

/** Seconds after which a repeat may find the first request done. */
const RETRY_AFTER = 1;

/**
 * Identifies a request by API key, method and concrete path, and its body by the digest of its JCS form. The path is decoded, so different escapes of a
 * proxy change nothing. The work lets others run in between: a body may have 16 MiB.
 * @throws Rejection HEADER_INVALID
 */
export const repeatable = async (
  key: string,
  tenant: string,
  route: readonly string[],
  body: Json,
): Promise<KeyedRequest> => {
  if (!isVisible(key)) {
    throw new Rejection('HEADER_INVALID', {
      message: 'Idempotency-Key must be 1 to 128 visible ASCII characters.',
      details: { header: 'Idempotency-Key' },
    });
  }
  return { tenant, scope: JSON.stringify(route), key, digest: sha256Base64url(await inSlices(jcsSlices(body))) };
};

/**
 * Reserves the key, durably, before anything is done.
 * @throws Rejection IDEMPOTENCY_IN_PROGRESS, IDEMPOTENCY_KEY_REUSED
 */
export const reserve = async (store: IdempotencyStore, request: KeyedRequest, newSeed: string): Promise<KeyUse> => {
  const reservation = await store.reserve(request, newSeed);
  if (reservation.kind === 'running') throw new Rejection('IDEMPOTENCY_IN_PROGRESS', { retryAfter: RETRY_AFTER });
  if (reservation.kind === 'reused') throw new Rejection('IDEMPOTENCY_KEY_REUSED');
  return reservation.kind === 'run' ? reservation : { kind: 'repeat', answer: reservation.answer };
};

/** Temporary refusals are not kept, because a retry may succeed. They are recognised by their `Retry-After`, whatever their status. */
const isKept = ({ status, headers }: StoredAnswer): boolean =>
  status < 400 || (status !== 429 && status < 500 && headers['Retry-After'] === undefined);

/** Of the details of a refusal that is kept, in bytes of JSON: they may name much of what the request sent. */
const DETAILS_KEPT_BYTES = 4_096;

const withFewDetails = (refusal: StoredAnswer): StoredAnswer => {
  const { body } = refusal;
  if (!isObject(body) || !isObject(body['error'])) return refusal;
  const { error } = body;
  if (error['details'] === undefined || jsonBytes(error['details']) <= DETAILS_KEPT_BYTES) return refusal;
  return { ...refusal, body: { ...body, error: { ...error, details: {} } } };
};

/**
 * Keeps the answer of a request that has run, or lets its key go. If the store cannot keep it, the client still gets its answer. The key stays
 * reserved with its seed, so a repeat after the server's next start completes the same command.
 */
export const settle = async (
  store: IdempotencyStore,
  request: KeyedRequest,
  answer: StoredAnswer,
  retention: AnswerRetention,
  log: Log,
): Promise<void> => {
  try {
    if (!isKept(answer)) await store.release(request);
    else if (answer.status < 400 || retention !== 'within-budget') await store.complete(request, answer, retention);
    // It records nothing: dropped, it might become a success.
    else await store.complete(request, withFewDetails(answer), 'always');
  } catch (err) {
    log.error({ err }, 'the answer to an Idempotency-Key could not be kept');
  }
};

/** A kept error has the id of the present request: `requestId` equals `X-Request-Id` in every response. */
export const repeatedBody = (answer: StoredAnswer, requestId: string): Json => {
  const { body } = answer;
  if (answer.status < 400 || !isObject(body) || !isObject(body['error'])) return body;
  return { ...body, error: { ...body['error'], requestId } };
};
