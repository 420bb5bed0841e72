import type { CommandContext } from '../../src/kernel/base/command-context.js';
import type { ProcessInput, ProcessRef } from '../../src/ports/process-runtime.js';
import type { Reply, ProcessStatus, StepArgs, StepResult } from '../../src/kernel/processes/process-step.js';

// What a shard's workflow says to those who ask it, to a worker, and to its own next run.

/** One of the updates that travel together. After `untilMs`, on Temporal's clock, nobody waits for it; null where its sender does not know that clock. */
export type BatchedUpdate = {
  readonly ref: ProcessRef;
  readonly inputs: readonly ProcessInput[];
  readonly by: CommandContext;
  readonly untilMs: number | null;
};
/** `bytes`: how much the updates take, as JSON. */
export type UpdateBatch = { readonly asks: readonly BatchedUpdate[]; readonly bytes: number };

/** A step that is not done yet goes on in its worker (ask again). One that threw says what. */
export type BatchedStep = StepResult | { readonly later: true } | { readonly failed: string };

/** `late`: it came when nobody waited any more, and no step was taken. */
export type BatchedReply = Reply | { readonly later: true } | { readonly late: true } | { readonly failed: string };
/** The answers in the order of the updates, and the time on Temporal's clock at which the batch came in. */
export type BatchReply = { readonly atMs: number; readonly replies: readonly BatchedReply[] };

/** What a shard's workflow calls. */
export type ShardActivities = {
  /** Takes the steps at once, those of one process in their order, and gives each BATCHED_STEP_MS. Answers take no more than `answerBytes`. */
  advanceBatch(steps: readonly StepArgs[], answerBytes: number): Promise<readonly BatchedStep[]>;
  /**
   * The open processes of this shard with the nearest deadlines, DEADLINES_CACHED at most, by their index, which may be behind. Without those that the
   * workflow tries in vain, given as `processKey`: there may be as many of them.
   */
  nearestDeadlines(shard: Shard, without: readonly string[]): Promise<readonly Deadlined[]>;
};

/** Which part of all minds: number `index`, from 0, of `count`; and the names of the processes that are run there. */
export type Shard = { readonly index: number; readonly count: number; readonly processes: readonly string[] };

/** An open process and when it is due, in milliseconds since the epoch. */
export type Deadlined = { readonly ref: ProcessRef; readonly dueMs: number };

/** A state that was reached, by which process, and the inputs that led there. */
export type ShardReachedState = { readonly at: string; readonly id: string; readonly to: string; readonly on: string };

/** What a shard's workflow keeps of one open process. `tries`: how often its deadline came to nothing; it is not tried again before `againMs`. */
export type UpcomingDeadline = Deadlined & {
  readonly state: string;
  readonly tries: number;
  readonly againMs: number;
};

/**
 * What a run begins with. `look`: it does not know all that is open, and asks the index. `horizonMs`: deadlines from then on are known to the index
 * alone. The rest is as the run before left it.
 */
export type ShardInput = {
  readonly shard: Shard;
  readonly look: boolean;
  readonly horizonMs?: number;
  readonly kept?: readonly UpcomingDeadline[];
  readonly transitions?: readonly ShardReachedState[];
};

/** What the query `state` answers: how many of the open processes that it knows are in each state. */
export type ShardState = {
  readonly shard: Shard;
  readonly states: Readonly<Record<string, number>>;
  readonly nextDue: string | null;
  readonly transitions: readonly ShardReachedState[];
};
/** What the query `process` answers for an id. Both are absent where the workflow knows nothing of it any more. */
export type KnownProcess = {
  readonly standing: ProcessStatus | null;
  readonly transitions: readonly ShardReachedState[];
};

/** The name under which a shard's workflow is asked. */
export const UPDATE_BATCH = 'askBatch';
