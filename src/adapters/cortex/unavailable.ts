import { Rejection } from '../../kernel/base/rejection.js';

/**
 * The refusal of an engine that gives no text.
 * @param reason a sentence that holds neither a key nor what the model server said
 * @param retryAfter seconds
 */
export const unavailable = (cortexId: string, reason: string, retryAfter = 1): Rejection =>
  new Rejection('CORTEX_UNAVAILABLE', {
    details: { cortexId, reason },
    retryAfter: Math.max(1, Math.ceil(retryAfter)),
  });
