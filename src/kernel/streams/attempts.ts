import { Rejection } from '../base/rejection.js';

/**
 * How often a decision is tried when other writers come first. Each foreign event refuses a waiting caller once. The bound is above the number of
 * callers that can wait at once: a caller must not fail only because many write.
 */
export const DECIDE_ATTEMPTS = 256;

/** What is thrown after DECIDE_ATTEMPTS. */
export const othersKeptWriting = (): Rejection =>
  new Rejection('CONFLICT', { message: 'Others kept writing to this stream; try again.', retryAfter: 1 });
