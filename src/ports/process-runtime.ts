import type { CommandContext } from '../kernel/base/command-context.js';
import type { JsonObject } from '../kernel/base/json.js';

/**
 * Which process: the name of its state machine, its id, and the stream that holds its events. Stream and id identify it: ids are unique only within a
 * stream.
 */
export type ProcessRef = { readonly process: string; readonly id: string; readonly stream: string };

/** The identity of a process as a string. */
export const processKey = ({ stream, id }: ProcessRef): string => `${stream} ${id}`;

/** The result of a request: the process's own answer, and the stream's revision and the global position at that time. */
export type StepAnswer = { readonly answer: unknown; readonly revision: number; readonly position: number };

export type ProcessInput = JsonObject & { readonly type: string };

/** How long a caller may wait for an outcome, in milliseconds. Callers that need longer ask again. */
export const OUTCOME_WAIT_MS = 60_000;

/** How long a wait may take, in milliseconds (OUTCOME_WAIT_MS at most), and what ends it earlier. */
export type Wait = { readonly withinMs: number; readonly signal?: AbortSignal };

/**
 * Drives durable processes. The stream is the truth: a runtime holds nothing that folding the stream would not restore.
 *
 * Order: inputs of one process are handled one at a time, in the order in which they were accepted. Atomicity: the inputs of one call are recorded in
 * one append. Deadlines fall due without a request, and late ones immediately after a restart. Effects that a state waits for are started again. The
 * runtime retries what no caller waits for (a deadline, an effect), after increasing pauses.
 *
 * Failures of both calls: BUSY if too many wait for one process, ENGINE_UNAVAILABLE if the engine is unavailable, NOT_READY while it stops, and what
 * the event store throws. A repeat with the same command id is safe: the state machine ignores what was recorded after all.
 */
export interface ProcessRuntime extends AsyncDisposable {
  /** Resumes all open processes. */
  start(): Promise<void>;

  /**
   * Acquires a permit for a request that will ask a process of this name in this stream. It makes no call and costs nothing, so it comes before the
   * reads that a request needs to find out what to ask.
   * @returns a function that releases the permit; to be called once
   * @throws Rejection BUSY or ENGINE_UNAVAILABLE if `ask` would be refused at this moment
   */
  enter(ref: Pick<ProcessRef, 'process' | 'stream'>): () => void;

  /**
   * Inputs for whose answer the caller waits. The answer comes once they are recorded; they take one step. A refused call recorded none of its
   * inputs.
   * @throws Rejection of the state machine's refusals
   */
  ask(ref: ProcessRef, inputs: readonly ProcessInput[], by: CommandContext): Promise<StepAnswer>;

  /**
   * The answer of the process once it waits for no effect: immediately for a process that waits for none, was never begun, or is over. Null if it
   * takes longer than `withinMs`; the process itself continues. This is not an input: it records nothing.
   * @throws the reason of the signal when that aborts; Rejection BUSY, including when the maximum number of callers already waits for this outcome
   */
  outcome(ref: ProcessRef, by: CommandContext, wait: Wait): Promise<StepAnswer | null>;
}
