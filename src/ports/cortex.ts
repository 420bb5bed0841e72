import type { JsonObject } from '../kernel/base/json.js';

/** What an engine is asked; a member that is left out is the engine's choice. */
export type Completion = {
  readonly prompt: string;
  /** Tokens as the engine counts them. */
  readonly maxTokens?: number;
  readonly temperature?: number;
  /** The answer ends before the first of these. */
  readonly stop?: readonly string[];
  /** The shape of the answer, for engines that can hold a model to one. */
  readonly jsonSchema?: JsonObject;
  /** How well each memory in the prompt fits what was said, 0 to 1, in their order, where that is known. Models have no use for it. */
  readonly similarities?: readonly number[];
};

/** What it answers. `stats`: what the engine tells of its work, in numbers (tokens, milliseconds). */
export type Completed = { readonly text: string; readonly stats: Readonly<Record<string, number>> };

/**
 * An engine that continues a prompt: a model, or the scripted one.
 *
 * Failures: Rejection CORTEX_UNAVAILABLE when the engine is down, refuses the prompt or does not answer in time; `details.reason` says which. The
 * caller's signal ends a call with that signal's reason. If that reason is a Rejection CORTEX_UNAVAILABLE, the caller's time limit is over, and the
 * engine may be too slow; any other reason means that nobody waits any longer, and shows nothing about the engine. An engine keeps nothing of what it was asked, and no key is in a message of its errors.
 */
export interface CortexEngine extends AsyncDisposable {
  /** Its name, as clients send it: one word. */
  readonly id: string;
  /** Its model, as people call it. */
  readonly name: string;
  /** What runs it: `builtin`, `http` or `llama.cpp`. */
  readonly runtime: string;
  /** Its size in millions of parameters; 0 for the scripted one and where it is not known. */
  readonly parameters: number;
  /** `ready`, or a sentence that says why not. It asks nobody: it tells what the last calls have shown. */
  state(): string;
  /**
   * Why a call made now would bring no text soon; null when it would be tried. What calls have shown counts for a few seconds only, so it clears by itself in
   * a process that calls the engine no more.
   */
  down(): string | null;
  complete(asked: Completion, signal: AbortSignal): Promise<Completed>;
}
