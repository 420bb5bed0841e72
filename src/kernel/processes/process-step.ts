import type { JsonObject } from '../base/json.js';
import type { RejectionCode } from '../base/rejection.js';
import type { CommandContext } from '../base/command-context.js';
import type { ProcessInput, ProcessRef } from '../../ports/process-runtime.js';

/** What a runtime hands to one step: inputs, or that the deadline may have fallen due. Without `by` it acts on its own behalf. */
export type StepArgs = {
  readonly ref: ProcessRef;
  readonly inputs: readonly ProcessInput[] | 'deadline';
  readonly by: CommandContext | null;
};

/** A refusal as a value: it belongs to its asker, and the line goes on behind it. */
export type Refusal = {
  readonly code: RejectionCode;
  readonly message: string;
  readonly details: JsonObject;
  readonly retryAfter?: number;
};

/** Whether a repeat would be refused as well: a refusal that passes says when to come again. */
export const isFinal = ({ retryAfter }: { readonly retryAfter?: number | undefined }): boolean =>
  retryAfter === undefined;

/** What an asker gets. An answer too large to travel is left out: folding the stream up to `revision` makes it again. */
export type Reply =
  | { readonly refused: Refusal }
  | { readonly answer?: unknown; readonly large?: true; readonly revision: number; readonly position: number };

/** All that a runtime knows of a process: its state, and what it waits for besides its askers. Histories of workflows hold it: its shape stays. */
export type ProcessStatus = {
  readonly state: string;
  readonly due: string | null;
  /** The effect that is to run. `background`: nobody waits for it. */
  readonly effect: { readonly id: string; readonly name: string; readonly background?: true } | null;
};

/** `standing` is null when it could not be found out, because the store was away. */
export type StepResult = { readonly reply: Reply; readonly standing: ProcessStatus | null };

/** What a runtime that decides nothing itself calls. */
export type ProcessActivities = {
  /** One whole step. @throws what is not a refusal */
  advanceProcess(args: StepArgs): Promise<StepResult>;
  /** Runs the effect with this id and returns the input that it made; null when the process waits for it no longer. */
  runEffect(ref: ProcessRef, effectId: string): Promise<ProcessInput | null>;
};

/** Names under which the one workflow is reached. */
export const STEP_UPDATE = 'ask';
export const OUTCOME = 'outcome';
/** The signal that makes a workflow look for what it does not know. */
export const LOOK = 'look';

/** Where what runs in the background waits for a worker, given the task queue of its workflow. */
export const backgroundQueueOf = (taskQueue: string): string => `${taskQueue}-background`;

/** A state that was reached, and the inputs that led there. */
export type ReachedState = { readonly at: string; readonly to: string; readonly on: string };

/** How much a value takes where it is kept or recorded, in bytes of JSON. */
export const payloadBytes = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length;

/**
 * What is known of the effect with this id: how often in a row a try of it, or of having its result recorded, came to nothing, and the result
 * that was made and is not recorded yet.
 */
export type EffectProgress = { readonly id: string; failures: number; result: ProcessInput | null };

/**
 * What a run of the workflow begins with. `takeUp`: it was started without an update, or by a run that did not know where the process stands, and looks at
 * the stream at once. The rest is as the run before left it; see `Run`.
 */
export type RunInput = {
  readonly ref: ProcessRef;
  readonly takeUp: boolean;
  readonly standing?: ProcessStatus;
  readonly transitions?: readonly ReachedState[];
  readonly failures?: number;
  readonly progress?: EffectProgress;
};

/**
 * One update. `token` tells its answer from one that the server remembers of an earlier update with the same update id. Workers of the first version refuse
 * an update without `stream`, so it is always sent.
 */
export type StepUpdateRequest = {
  readonly stream?: string;
  readonly inputs: readonly ProcessInput[];
  readonly by: CommandContext;
  readonly token: string;
  /** After this moment, on Temporal's clock, nobody waits for the answer; absent where its sender does not know that clock. */
  readonly untilMs?: number;
};
/** `atMs`: Temporal's time when the update came in. */
export type StepUpdateResult = { readonly token: string; readonly reply: Reply; readonly atMs?: number };

/** A wait for an outcome, `withinMs` long at most. Null comes back when that was not enough. */
export type OutcomeWait = { readonly by: CommandContext; readonly withinMs: number };

/**
 * Failures that a caller meets: the step threw (details: the token), the run is about to end and the next one is to be asked, or as many as may
 * wait for an outcome already.
 */
export const STEP_FAILED = 'StepFailed';
export const RUN_ENDING = 'RunEnding';
export const PROCESS_BUSY = 'ProcessBusy';
/** It came when its asker waited no more; no step was taken. */
export const UPDATE_LATE = 'AskLate';
