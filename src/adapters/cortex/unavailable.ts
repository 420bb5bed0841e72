import { Rejection } from '../../kernel/base/rejection.js';

/**
 * The refusal of an engine that returns no text.
 * @param reason a message that holds neither a key nor the model server's text
 * @param retryAfter seconds
 */
export const unavailable = (cortexId: string, reason: string, retryAfter = 1): Rejection =>
  new Rejection('CORTEX_UNAVAILABLE', {
    details: { cortexId, reason },
    retryAfter: Math.max(1, Math.ceil(retryAfter)),
  });
