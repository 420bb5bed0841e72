import { Rejection } from '../base/rejection.js';
import type { Moment } from '../../ports/snapshots.js';
import { instantOf } from '../base/timestamp.js';

/**
 * Reads `asOf`: digits only, however many, are a revision; anything else is an RFC 3339 timestamp. Without it, the response shows the current state.
 * @param member of the query
 * @throws Rejection SCHEMA_INVALID
 */
export const momentOf = (asOf: string | undefined, member = 'asOf'): Moment | 'now' => {
  if (asOf === undefined) return 'now';
  if (/^\d+$/.test(asOf)) return { revision: Math.min(Number(asOf), Number.MAX_SAFE_INTEGER) };
  // The timestamp includes events within its millisecond.
  const timeMs = instantOf(asOf);
  if (timeMs !== null) return { timeMs };
  throw new Rejection('SCHEMA_INVALID', {
    details: { issues: [{ pointer: `/${member}`, message: 'must be a revision or an RFC 3339 timestamp' }] },
  });
};
