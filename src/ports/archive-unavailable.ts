import { Rejection } from '../kernel/base/rejection.js';

/** After how many seconds a retry may succeed. */
const RETRY_SECONDS = 2;

/** The error of an archive outside this server that does not answer. @param archive its usual name, which reaches the client */
export const archiveUnavailable = (archive: string, cause?: unknown): Rejection => {
  const rejection = new Rejection('ARCHIVE_UNAVAILABLE', { details: { archive }, retryAfter: RETRY_SECONDS });
  rejection.cause = cause;
  return rejection;
};

/** Returns null if an archive is unavailable and that makes no difference, because others may have the payload. Rethrows any other failure. */
export const nullWhenAway = (error: unknown): null => {
  if (error instanceof Rejection && error.code === 'ARCHIVE_UNAVAILABLE') return null;
  throw error;
};
