import type { CommandContext } from '../../src/kernel/base/command-context.js';
import type { ProcessInput, ProcessRef } from '../../src/ports/process-runtime.js';
import type { Reply, ProcessStatus, StepArgs, StepResult } from '../../src/kernel/processes/process-step.js';

// The messages between a shard's workflow and its callers, its worker, and its own next run.

/**
 * One of the updates that travel together. After `untilMs`, on Temporal's clock, no caller waits for it; null if its sender does not know that clock.
 */
export type BatchedUpdate = {
  readonly ref: ProcessRef;
  readonly inputs: readonly ProcessInput[];
  readonly by: CommandContext;
  readonly untilMs: number | null;
};
/** `bytes`: the size of the updates, as JSON. */
export type UpdateBatch = { readonly asks: readonly BatchedUpdate[]; readonly bytes: number };

/** A step that is not done yet continues in its worker (ask again). One that threw carries the error. */
export type BatchedStep = StepResult | { readonly later: true } | { readonly failed: string };

/** `late`: it arrived after its caller had stopped waiting, and no step ran. */
export type BatchedReply = Reply | { readonly later: true } | { readonly late: true } | { readonly failed: string };
/** The answers in the order of the updates, and the time on Temporal's clock at which the batch arrived. */
export type BatchReply = { readonly atMs: number; readonly replies: readonly BatchedReply[] };

/** The calls of a shard's workflow. */
export type ShardActivities = {
  /** Runs the steps concurrently, those of one process in their order, and gives each BATCHED_STEP_MS. Answers are at most `answerBytes` together. */
  advanceBatch(steps: readonly StepArgs[], answerBytes: number): Promise<readonly BatchedStep[]>;
  /**
   * The open processes of this shard with the nearest deadlines, at most DEADLINES_CACHED, by their index, which may be behind. Excludes those that
   * the workflow tries without success, given as `processKey`: there may be as many of them.
   */
  nearestDeadlines(shard: Shard, without: readonly string[]): Promise<readonly Deadlined[]>;
};

/** A part of all minds: number `index`, from 0, of `count`; and the names of the processes that run there. */
export type Shard = { readonly index: number; readonly count: number; readonly processes: readonly string[] };

/** An open process and when it is due, in milliseconds since the epoch. */
export type Deadlined = { readonly ref: ProcessRef; readonly dueMs: number };

/** A state that was reached, by which process, and the inputs that led there. */
export type ShardReachedState = { readonly at: string; readonly id: string; readonly to: string; readonly on: string };

/** What a shard's workflow keeps of one open process. `tries`: how often its deadline failed; it is not tried again before `againMs`. */
export type UpcomingDeadline = Deadlined & {
  readonly state: string;
  readonly tries: number;
  readonly againMs: number;
};

/**
 * The input of a run. `look`: it does not know all open processes, and asks the index. `horizonMs`: later deadlines are known only to the index. The
 * rest is as the previous run left it.
 */
export type ShardInput = {
  readonly shard: Shard;
  readonly look: boolean;
  readonly horizonMs?: number;
  readonly kept?: readonly UpcomingDeadline[];
  readonly transitions?: readonly ShardReachedState[];
};

/** The answer of the query `state`: how many of the open processes known to the workflow are in each state. */
export type ShardState = {
  readonly shard: Shard;
  readonly states: Readonly<Record<string, number>>;
  readonly nextDue: string | null;
  readonly transitions: readonly ShardReachedState[];
};
/** The answer of the query `process` for an id. Both are absent if the workflow no longer knows the process. */
export type KnownProcess = {
  readonly standing: ProcessStatus | null;
  readonly transitions: readonly ShardReachedState[];
};

/** The name of the update that delivers a batch to a shard's workflow. */
export const UPDATE_BATCH = 'askBatch';
