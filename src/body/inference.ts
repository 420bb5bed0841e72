import type { ChatMessage, JsonMembers } from './protocol.js';

export type CompletionRequest = {
  readonly prompt: string;
  /** The mind's constraints on the model: `maxTokens`, `temperature` and whatever else the rules add. */
  readonly constraints: JsonMembers;
  /** The messages that the prompt was formatted from, if the mind sent them. */
  readonly ctxMessages?: readonly ChatMessage[] | null;
  /** The observation of the turn, by which a scripted model answers. */
  readonly observation?: string;
  readonly signal?: AbortSignal;
};

/** The body's language model. One call returns one text; every failure is an `InferenceError`, and no call waits for ever. */
export interface Inference {
  complete(request: CompletionRequest): Promise<string>;
}

/**
 * `timeout` and `aborted`: the call was aborted. `unreachable`: no connection, or it broke before the answer was complete. `bad-status`: an HTTP
 * error. `bad-answer`: not JSON, or no text in it. `too-large`: over the size bound.
 */
export type InferenceFailure = 'timeout' | 'aborted' | 'unreachable' | 'bad-status' | 'bad-answer' | 'too-large';

/** Why a model returned no text. The turn stays open: the same step may be sent again once the model is available. */
export class InferenceError extends Error {
  readonly failure: InferenceFailure;

  constructor(failure: InferenceFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'InferenceError';
    this.failure = failure;
  }
}
