import { Rejection } from '../../kernel/base/rejection.js';
import { diskFull } from '../shared/disk-full.js';

/** Seconds after which a repeat makes sense. */
const RETRY_SECONDS = 1;

/** Node's codes for a server that cannot be reached or was lost. */
const SOCKET_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
]);

/**
 * SQLSTATE classes and codes of a server that cannot serve now: connection (08), access and missing database (28, 3D), resources (53), operator
 * intervention and cancellation by a timeout (57), its own I/O (58), a standby (25006), an idle transaction that was ended (25P03), a lock not
 * obtained in time (55P03).
 */
const SERVER_CODES = /^(08|28|3D|53|57|58|25006|25P03|55P03)/;
const DISK_FULL = '53100';

/** Errors of pg and kysely that carry no code. */
const MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client (has encountered|was closed)|Cannot use a pool after|driver has already been destroyed|This socket has been ended)/;

/** Two writers collided and one was rolled back: unique violation, serialization failure, deadlock. Nothing of that writer's change remains. */
const RACE_CODES = new Set(['23505', '40001', '40P01']);

const codeOf = (error: unknown): string => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
};

/** Whether the server was unavailable, was lost, or did not answer in time. It may still have carried out the request. */
const isUnavailable = (error: unknown): boolean => {
  const code = codeOf(error);
  if (SOCKET_CODES.has(code)) return true;
  // Five characters are a SQLSTATE; Node's own codes are longer.
  if (code.length === 5 && SERVER_CODES.test(code)) return true;
  return error instanceof Error && MESSAGES.test(error.message);
};

/** Whether the error's connection must not be used again: it broke, or an answer is still on its way. */
export const isConnectionSpoilt = (error: unknown): boolean => isUnavailable(error) && !isTimeout(error);

/** Whether the server ended a statement because it took too long. */
export const isTimeout = (error: unknown): boolean => codeOf(error) === '57014';

/** Whether another writer was faster. */
export const isRace = (error: unknown): boolean => RACE_CODES.has(codeOf(error));

/** The refusal of a database that cannot be reached. */
export const databaseUnavailable = (cause?: unknown): Rejection => {
  const rejection = new Rejection('DATABASE_UNAVAILABLE', { retryAfter: RETRY_SECONDS });
  if (cause !== undefined) rejection.cause = cause;
  return rejection;
};

/** The refusal for a failed statement: DATABASE_UNAVAILABLE, STORE_FULL. Any other error is a defect and is returned unchanged. */
export const postgresRejection = (error: unknown): unknown => {
  if (error instanceof Rejection) return error;
  if (codeOf(error) === DISK_FULL) return diskFull();
  return isUnavailable(error) ? databaseUnavailable(error) : error;
};
