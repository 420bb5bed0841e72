import { NotLeaderError, UnknownError } from '@eventstore/db-client';

import { Rejection } from '../../kernel/base/rejection.js';

/** How long a client should wait before it repeats, in seconds. */
const RETRY_SECONDS = 1;

/** gRPC status codes (https://grpc.github.io/grpc/core/md_doc_statuscodes.html), as errors of calls carry them. */
export const GRPC = {
  cancelled: 1,
  unknown: 2,
  deadlineExceeded: 4,
  permissionDenied: 7,
  unavailable: 14,
} as const;

/** The gRPC status of a failed call. Errors that the client makes itself have none. */
const statusOf = (error: unknown): number | undefined => {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  return typeof code === 'number' ? code : undefined;
};

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The refusal of a store that is closed or cannot be reached. The cause is for the log; clients never see it. */
export const storeUnavailable = (cause?: unknown): Rejection => {
  const rejection = new Rejection('STORE_UNAVAILABLE', { retryAfter: RETRY_SECONDS });
  if (cause !== undefined) rejection.cause = cause;
  return rejection;
};

/** The refusal of an append whose outcome is unknown: the store was lost during the append and did not come back in time. */
export const outcomeUnknown = (cause: unknown): Rejection => {
  const message =
    'The connection to the event store was lost during a write, so the outcome is unknown. Send the request again, with the same idempotency key if it opens a turn: nothing is written twice.';
  const rejection = new Rejection('STORE_UNAVAILABLE', { message, retryAfter: RETRY_SECONDS });
  rejection.cause = cause;
  return rejection;
};

/** The refusal of a request that the store will always refuse. */
export const refusedForGood = (cause: unknown): Rejection => {
  const message =
    'The event store rejected the write; nothing was written. Retrying does not help: the operator of this server has to check the event store.';
  const rejection = new Rejection('STORE_UNAVAILABLE', { message });
  rejection.cause = cause;
  return rejection;
};

/** The refusal of an append when too many are waiting. */
export const busy = (): Rejection => new Rejection('BUSY', { retryAfter: RETRY_SECONDS });

/** Whether a node reports that there is no leader. Only its text shows it: an absent node has the same code. */
export const isElecting = (text: string): boolean => /Server Is Not Ready|Server Is Busy|No leader info/.test(text);

/** Whether a read failed because there is no leader, or at a node that is not the leader: repeating it makes sense. */
export const wantsLeader = (error: unknown): boolean =>
  error instanceof NotLeaderError || (statusOf(error) === GRPC.unavailable && isElecting(textOf(error)));

/** Whether the store does not allow a call, which no repeat changes. */
export const isDenied = (error: unknown): boolean => statusOf(error) === GRPC.permissionDenied;

/** Whether the log was read from a position at which no event begins. Other failures are an `UnknownError` of the client, too. */
export const isBetweenEvents = (error: unknown): boolean =>
  error instanceof UnknownError && statusOf(error) === GRPC.unknown;

/** The refusal of a read that failed. */
export const readRefused = (error: unknown): Rejection =>
  isDenied(error) ? refusedForGood(error) : storeUnavailable(error);

/**
 * Whether the call ended before there was a connection; then the server cannot have seen any of it. Only the text shows it: a lost connection has the
 * same code.
 */
export const neverSent = (error: unknown): boolean =>
  statusOf(error) === GRPC.unavailable &&
  /No connection established|ECONNREFUSED|Name resolution failed|Failed to discover/.test(textOf(error));

/** Whether this server ended the call, through `cancel`. Only the text shows it: the server ends calls with the same code. */
export const cancelledByUs = (error: unknown): boolean =>
  statusOf(error) === GRPC.cancelled && /Cancelled on client/.test(textOf(error));
