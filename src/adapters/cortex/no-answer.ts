import { Rejection } from '../../kernel/base/rejection.js';

/**
 * The refusal of an engine that is up, and gives no answer to this prompt.
 * @param reason a message that holds neither a key nor the model server's text
 */
export const noAnswer = (cortexId: string, reason: string): Rejection =>
  new Rejection('CORTEX_NO_ANSWER', { details: { cortexId, reason } });
