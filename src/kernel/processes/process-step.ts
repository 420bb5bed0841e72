import type { JsonObject } from '../base/json.js';
import type { RejectionCode } from '../base/rejection.js';
import type { CommandContext } from '../base/command-context.js';
import type { ProcessInput, ProcessRef } from '../../ports/process-runtime.js';

/** The arguments of one step: inputs, or that the deadline may be due. Without `by` the runtime acts on its own behalf. */
export type StepArgs = {
  readonly ref: ProcessRef;
  readonly inputs: readonly ProcessInput[] | 'deadline';
  readonly by: CommandContext | null;
};

/** A refusal as a value: it goes to its caller, and the requests queued behind it continue. */
export type Refusal = {
  readonly code: RejectionCode;
  readonly message: string;
  readonly details: JsonObject;
  readonly retryAfter?: number;
};

/** Whether a repeat would be refused too; a temporary refusal carries a time to retry. */
export const isFinal = ({ retryAfter }: { readonly retryAfter?: number | undefined }): boolean =>
  retryAfter === undefined;

/** The reply to a caller. An answer too large to travel is left out: folding the stream up to `revision` rebuilds it. */
export type Reply =
  | { readonly refused: Refusal }
  | { readonly answer?: unknown; readonly large?: true; readonly revision: number; readonly position: number };

/**
 * Everything that a runtime keeps of a process: its state, and what it waits for other than its callers. Workflow histories contain it, so its shape
 * is fixed.
 */
export type ProcessStatus = {
  readonly state: string;
  readonly due: string | null;
  /** The effect to run. `background`: no caller waits for it. */
  readonly effect: { readonly id: string; readonly name: string; readonly background?: true } | null;
};

/** `standing` is null if it could not be determined, because the store was unavailable. */
export type StepResult = { readonly reply: Reply; readonly standing: ProcessStatus | null };

/** The calls of a runtime that decides nothing itself. */
export type ProcessActivities = {
  /** One complete step. @throws what is not a refusal */
  advanceProcess(args: StepArgs): Promise<StepResult>;
  /** Runs the effect with this id and returns the input that it produced; null if the process no longer waits for it. */
  runEffect(ref: ProcessRef, effectId: string): Promise<ProcessInput | null>;
};

/** The name of the update that delivers a step to the workflow. */
export const STEP_UPDATE = 'ask';
export const OUTCOME = 'outcome';
/** The signal that makes a workflow look up what it does not know. */
export const LOOK = 'look';

/** The task queue of background work, given the task queue of its workflow. */
export const backgroundQueueOf = (taskQueue: string): string => `${taskQueue}-background`;

/** A state that was reached, and the inputs that led there. */
export type ReachedState = { readonly at: string; readonly to: string; readonly on: string };

/** The size of a value when it is cached or recorded, in bytes of JSON. */
export const payloadBytes = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length;

/**
 * The progress of the effect with this id: how many attempts in a row failed, at it or at recording its result, and
 * the result that was produced and is not recorded yet.
 */
export type EffectProgress = { readonly id: string; failures: number; result: ProcessInput | null };

/**
 * The input of a run of the workflow. `takeUp`: the run was started without an update, or by a run that did not know the state of the process, so it
 * reads the stream immediately. The rest is as the previous run left it; see `Run`.
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
 * One update. `token` distinguishes its answer from one that the server remembers of an earlier update with the same update id. Workers of the first
 * version refuse an update without `stream`, so it is always sent.
 */
export type StepUpdateRequest = {
  readonly stream?: string;
  readonly inputs: readonly ProcessInput[];
  readonly by: CommandContext;
  readonly token: string;
  /** After this moment, on Temporal's clock, no caller waits for the answer; absent if its sender does not know that clock. */
  readonly untilMs?: number;
};
/** `atMs`: Temporal's time when the update arrived. */
export type StepUpdateResult = { readonly token: string; readonly reply: Reply; readonly atMs?: number };

/** A wait for an outcome, at most `withinMs` long; returns null if that was too short. */
export type OutcomeWait = { readonly by: CommandContext; readonly withinMs: number };

/**
 * Failures that a caller meets: the step threw (details: the token), the run is about to end and the next one must be asked, or the maximum number
 * already waits for an outcome.
 */
export const STEP_FAILED = 'StepFailed';
export const RUN_ENDING = 'RunEnding';
export const PROCESS_BUSY = 'ProcessBusy';
/** The update arrived after its caller had stopped waiting; no step ran. */
export const UPDATE_LATE = 'AskLate';
