import { Rejection } from '../shared/rejection.js';

/** Seconds after which a repeat makes sense. */
const RETRY_SECONDS = 2;

/** An archive outside of this server does not answer. @param archive its name, as people know it; it reaches the client */
export const archiveUnavailable = (archive: string, cause?: unknown): Rejection => {
  const rejection = new Rejection('ARCHIVE_UNAVAILABLE', { details: { archive }, retryAfter: RETRY_SECONDS });
  rejection.cause = cause;
  return rejection;
};
