import { Rejection } from '../kernel/base/rejection.js';

/** Seconds after which a repeat makes sense. */
const RETRY_SECONDS = 2;

/** An archive outside of this server does not answer. @param archive its name, as people know it; it reaches the client */
export const archiveUnavailable = (archive: string, cause?: unknown): Rejection => {
  const rejection = new Rejection('ARCHIVE_UNAVAILABLE', { details: { archive }, retryAfter: RETRY_SECONDS });
  rejection.cause = cause;
  return rejection;
};

/** Nothing, where an archive that cannot be asked makes no difference: others may have what is looked for. Any other failure goes on. */
export const nullWhenAway = (error: unknown): null => {
  if (error instanceof Rejection && error.code === 'ARCHIVE_UNAVAILABLE') return null;
  throw error;
};
