import type { CommandContext } from '../kernel/base/command-context.js';
import type { JsonObject } from '../kernel/base/json.js';

/** Which process: the name of its state machine, its id, and the stream that holds its events. Its identity is stream and id: ids are unique in one stream only. */
export type ProcessRef = { readonly process: string; readonly id: string; readonly stream: string };

/** The identity of a process as one string. */
export const processKey = ({ stream, id }: ProcessRef): string => `${stream} ${id}`;

/** What an ask got: the process's own answer, and the stream's revision and the global position at that time. */
export type StepAnswer = { readonly answer: unknown; readonly revision: number; readonly position: number };

export type ProcessInput = JsonObject & { readonly type: string };

/** How long a caller may wait for an outcome, in milliseconds. One that needs longer asks again. */
export const OUTCOME_WAIT_MS = 60_000;

/** How long a wait may take, in milliseconds (OUTCOME_WAIT_MS at most), and what ends it before. */
export type Wait = { readonly withinMs: number; readonly signal?: AbortSignal };

/**
 * Drives durable processes. The stream is the truth: a runtime holds nothing that folding the stream would not bring back.
 *
 * Order: inputs of one process are taken one at a time, in the order in which they were accepted. Atomicity: the inputs of
 * one call are recorded in one append. Deadlines fall due without a request, and late ones at once after a restart. Effects that a state waits for
 * are started again. The runtime retries what no caller waits for (a deadline, an effect), after pauses that grow.
 *
 * Failures of both calls: BUSY when too many wait for one process, ENGINE_UNAVAILABLE when the engine is away, NOT_READY
 * while it stops, and what the event store raises. A repeat with the same command id is safe: the state machine ignores what was recorded
 * after all.
 */
export interface ProcessRuntime extends AsyncDisposable {
  /** Resumes every process that was left open. */
  start(): Promise<void>;

  /**
   * A permit for a request that will ask a process of this name in this stream. It asks nobody and costs nothing, so it comes before what a request
   * must read to find out what to ask.
   * @returns gives the permit back; to be called once
   * @throws Rejection BUSY or ENGINE_UNAVAILABLE, where an ask would be refused at this moment
   */
  enter(ref: Pick<ProcessRef, 'process' | 'stream'>): () => void;

  /**
   * Inputs for whose answer the caller waits. It comes once they are recorded; they take one step. A refused ask recorded nothing of its inputs.
   * @throws Rejection of the state machine's refusals
   */
  ask(ref: ProcessRef, inputs: readonly ProcessInput[], by: CommandContext): Promise<StepAnswer>;

  /**
   * What the process answers once it waits for no effect. That is at once for a process that waits for none, was never begun, or is over. Null
   * when it takes longer than `withinMs`; the process itself goes on. This is not an input: it records nothing.
   * @throws the reason of the signal when that aborts; Rejection BUSY also when as many wait for this outcome as may
   */
  outcome(ref: ProcessRef, by: CommandContext, wait: Wait): Promise<StepAnswer | null>;
}
