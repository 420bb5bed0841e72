import { Rejection } from '../kernel/base/rejection.js';

/** An engine that is up refuses a prompt because it is longer than its context. */
export class PromptTooLong extends Rejection {
  /** The context in tokens, if the refusal says it. */
  readonly contextTokens: number | null;

  constructor(cortexId: string, reason: string, contextTokens: number | null) {
    super('CORTEX_NO_ANSWER', { details: { cortexId, reason } });
    this.contextTokens = contextTokens;
  }
}
