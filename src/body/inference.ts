import type { ChatMessage, JsonMembers } from './protocol.js';

export type CompletionRequest = {
  readonly prompt: string;
  /** What the mind asks of the model: `maxTokens`, `temperature` and whatever else the rules add. */
  readonly constraints: JsonMembers;
  /** The messages that the prompt was formatted from, where the mind gave them. */
  readonly ctxMessages?: readonly ChatMessage[] | null;
  /** What the turn is about; a scripted model answers by it. */
  readonly observation?: string;
  readonly signal?: AbortSignal;
};

/** The body's language model. One call, one text; every failure is an `InferenceError`, and no call waits for ever. */
export interface Inference {
  complete(request: CompletionRequest): Promise<string>;
}

/**
 * `timeout` and `aborted`: given up. `unreachable`: no connection, or cut before the answer was whole.
 * `bad-status`: an HTTP error. `bad-answer`: not JSON, or no text in it. `too-large`: over the size bound.
 */
export type InferenceFailure = 'timeout' | 'aborted' | 'unreachable' | 'bad-status' | 'bad-answer' | 'too-large';

/** Why a model gave no text. The turn stays open: the same step may be sent again once the model is back. */
export class InferenceError extends Error {
  readonly failure: InferenceFailure;

  constructor(failure: InferenceFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'InferenceError';
    this.failure = failure;
  }
}
