import { Rejection } from '../../kernel/base/rejection.js';

/** Seconds after which a write makes sense again. */
const RETRY_SECONDS = 5;

/** The refusal of a write that found the disk full. */
export const diskFull = (): Rejection => new Rejection('STORE_FULL', { retryAfter: RETRY_SECONDS });
