import { Rejection } from '../base/rejection.js';

/**
 * How often a decision is retried when other writers append first. Each foreign event refuses a waiting caller once. The bound is above the number of
 * callers that can wait at the same time, so that no caller fails merely because many write.
 */
export const DECIDE_ATTEMPTS = 256;

/** The error after DECIDE_ATTEMPTS. */
export const othersKeptWriting = (): Rejection =>
  new Rejection('CONFLICT', { message: 'Concurrent requests kept writing to this stream. Try again.', retryAfter: 1 });
