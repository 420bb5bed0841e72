import type { JsonObject } from '../kernel/base/json.js';
import type { ChatMessage } from './messages-of.js';

/** A part of a prompt, for engines that take parts: a line of it, or a paragraph of one line. */
export type CompletionPart = {
  readonly text: string;
  /** `persona`, `state`, `context`, `memory`, `conversation`, `rule` or `observation`; anything else is what the server itself says. */
  readonly from: string;
  /** How well a memory matches what was said, 0 to 1, if known. */
  readonly similarity?: number;
};

/** A request to an engine; the engine chooses any member that is absent. */
export type Completion = {
  readonly prompt: string;
  /** The same as messages, for engines whose model takes a conversation. Without them, the engine reads the prompt as messages (messagesOf). */
  readonly messages?: readonly ChatMessage[];
  /** In tokens of the engine. */
  readonly maxTokens?: number;
  readonly temperature?: number;
  /** The text ends before the first of these strings. */
  readonly stop?: readonly string[];
  /** The shape of the answer, for engines that can constrain a model to it. */
  readonly jsonSchema?: JsonObject;
  /** What the prompt is made of, for an engine that takes parts (`takesParts`); absent for a prompt of a client. */
  readonly parts?: readonly CompletionPart[];
  /** An answer that is none is not asked for again: the caller records it, and asks again itself. */
  readonly once?: boolean;
  /** Gets all that the current attempt has written, each time there is more, from engines that can tell. Reasoning may be in it. */
  readonly onText?: (text: string) => void;
};

/** The answer. */
export type Completed = {
  /** Without reasoning, and never empty of words. Calls of functions are in it as `<tool_call>`. */
  readonly text: string;
  /** What the model thought before it answered, if the engine gives it; nobody but those who ask why may see it. */
  readonly reasoning?: string;
  /** What the engine reports of its work, in numbers (tokens, milliseconds). */
  readonly stats: Readonly<Record<string, number>>;
};

/**
 * An engine that continues a prompt: a model, or the scripted one.
 *
 * Failures: Rejection CORTEX_UNAVAILABLE if the engine is down or does not answer in time, CORTEX_NO_ANSWER if it is up and refuses this prompt or
 * answers without a text; `details.reason` says which. The caller's signal ends a call with that signal's reason. If that reason is a Rejection CORTEX_UNAVAILABLE, the caller's time limit is over, and the
 * engine may be too slow; any other reason means that the caller has left, and shows nothing about the engine. An engine stores nothing of its
 * requests, and its error messages contain no keys.
 */
export interface CortexEngine extends AsyncDisposable {
  /** Its name, as clients send it: without spaces. */
  readonly id: string;
  /** The usual name of its model. */
  readonly name: string;
  /** Its runtime: `builtin`, `http` or `llama.cpp`. */
  readonly runtime: string;
  /** Its size in millions of parameters; 0 for the scripted one, or if unknown. */
  readonly parameters: number;
  /** `ready`, or a message that says why not. It makes no call: it reports the results of the last calls. */
  state(): string;
  /** Whether it reads the parts of a prompt, where its caller has them. Engines of models do not. */
  readonly takesParts?: true;
  /** What turns ask of this engine instead of their own numbers, as its operator set it. */
  readonly inTurns?: Pick<Completion, 'maxTokens' | 'temperature'>;
  /**
   * Why a call now would return no text soon; null if it would be tried. The results of calls count for a few seconds only, so this clears in a
   * process that no longer calls the engine.
   */
  down(): string | null;
  /** Why the last call returned no text although the engine is up; null after an answer, and if that was long ago. */
  problem?(): string | null;
  /**
   * Calls the listener whenever the engine has shown that it is up, in a call of anybody, before that call returns. Returns a function that ends this.
   * Absent for an engine that is never down.
   */
  onAnswer?(listener: () => void): () => void;
  /** The same as `contextTokens`, as far as it is known without a call: the prompts of turns are shortened to it. */
  knownContext?(): number | null;
  /** How many tokens of prompt and answer it takes; null if it does not say. Raises the reason of the signal. */
  contextTokens?(signal: AbortSignal): Promise<number | null>;
  complete(asked: Completion, signal: AbortSignal): Promise<Completed>;
}
