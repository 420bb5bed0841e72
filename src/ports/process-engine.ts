import type { CommandContext } from '../domain/shared/command-context.js';
import type { JsonObject } from '../domain/shared/json.js';

/** Which process: its table, its id, and the stream that holds its events. Its identity is stream and id: ids are unique in one stream only. */
export type ProcessRef = { readonly process: string; readonly id: string; readonly stream: string };

/** The identity of a process as one string. */
export const processKey = ({ stream, id }: ProcessRef): string => `${stream} ${id}`;

/** What a step got: the process's own answer, and the stream's revision and the global position when it was answered. */
export type StepAnswer = { readonly answer: unknown; readonly revision: number; readonly position: number };

export type ProcessInput = JsonObject & { readonly type: string };

/** How long anybody may wait for an outcome, in milliseconds. Whoever needs longer asks again. */
export const OUTCOME_WAIT_MS = 60_000;

/** How long a wait may take, in milliseconds (OUTCOME_WAIT_MS at most), and what ends it before. */
export type Wait = { readonly withinMs: number; readonly signal?: AbortSignal };

/**
 * Drives durable processes. The stream is the truth; an engine holds nothing that folding it would not bring back, but for the facts that it
 * was told and could not record yet.
 *
 * Order: inputs of one process are taken one at a time, in the order in which they were accepted; what was told goes before what is asked or told
 * after it. Atomicity: the inputs of one call are recorded in one append. Deadlines fall due also while nobody asks and after a restart, late ones
 * at once; effects that a state waits for are started again. What fails of itself (a deadline, a far effect, a fact that is kept) is tried again
 * after pauses that grow.
 *
 * Failures of all three calls: BUSY when too many wait for one process, ENGINE_UNAVAILABLE when the engine is away or a near effect takes longer
 * than it may, NOT_READY while it stops, and what the event store raises. A repeat with the same command id is safe: the table ignores what was
 * recorded after all.
 */
export interface ProcessEngine extends AsyncDisposable {
  /** Takes up every process that was left open. */
  start(): Promise<void>;

  /**
   * Inputs with somebody waiting for the answer, which comes once they are recorded; they take one step, near effects included. A refused or
   * failed ask recorded nothing of its inputs, unless a near effect failed behind them.
   * @throws Rejection of the table's refusals
   */
  ask(ref: ProcessRef, inputs: readonly ProcessInput[], by: CommandContext): Promise<StepAnswer>;

  /**
   * A fact, for whose answer nobody waits. Resolves once it cannot be lost any more: it is recorded, or kept by an engine that records it as soon
   * as it can. A cell may refuse or ignore it; then it is dropped, and a refusal is logged. Rejects when it was neither recorded nor kept, or that
   * is not known: tell it again.
   * @throws Rejection EVENTS_TOO_LARGE for more than an engine keeps
   */
  tell(ref: ProcessRef, inputs: readonly ProcessInput[], by: CommandContext): Promise<void>;

  /**
   * What the process answers once it waits for no far effect: at once where it waits for none, as one does that nobody began or that is over. Null
   * when that takes longer than `withinMs`; the process itself goes on. A look, no input: it records nothing but what near effects bring.
   * @throws the reason of the signal when that aborts; Rejection BUSY also when as many wait for this outcome as may
   */
  outcome(ref: ProcessRef, by: CommandContext, wait: Wait): Promise<StepAnswer | null>;
}
