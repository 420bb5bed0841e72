import { OUTCOME, type OutcomeWait, type Reply } from '../../kernel/processes/process-step.js';
import { pause } from '../../kernel/concurrency/pause.js';
import type { CommandContext } from '../../kernel/base/command-context.js';
import { Rejection } from '../../kernel/base/rejection.js';
import type { Clock } from '../../ports/clock.js';
import { OUTCOME_WAIT_MS, type ProcessRef, type Wait } from '../../ports/process-runtime.js';
import { UPDATE_TIMEOUT_MS } from './step-update.js';
import { threwOf } from './failures.js';
import type { ProcessWorkflows } from './process-workflows.js';

/** How long one update waits for an outcome, in milliseconds. A caller that has gone holds a permit for no longer than that. */
export const OUTCOME_UPDATE_MS = 10_000;
/** The pause before a caller that lost its permit between two updates requests one again, in milliseconds. */
export const PLACE_PAUSE_MS = 500;

export type OutcomeDeps = {
  readonly workflows: Pick<ProcessWorkflows, 'update'>;
  readonly clock: Pick<Clock, 'monotonicMs' | 'after'>;
  /** An update id that is used once. */
  readonly newId: () => string;
};

/**
 * Waits for an outcome by one update after the other. Null after the timeout, even for a caller that had a permit and lost it to another.
 * @throws Rejection BUSY if it never had a permit; what the step threw, and as `ProcessWorkflows.update`
 */
export const awaitOutcome = async (
  deps: OutcomeDeps,
  ref: ProcessRef,
  by: CommandContext,
  { withinMs, signal }: Wait,
): Promise<Reply | null> => {
  const { clock } = deps;
  const untilMs = clock.monotonicMs() + Math.min(withinMs, OUTCOME_WAIT_MS);
  const leftMs = (): number => Math.max(untilMs - clock.monotonicMs(), 0);
  for (let hadPlace = false; ; hadPlace = true) {
    const reply = await waitOnce(deps, ref, { by, untilMs, signal }).catch((error: unknown) => {
      if (!hadPlace || !isBusy(error)) throw error;
      return pause(clock, Math.min(PLACE_PAUSE_MS, leftMs()), signal).then(() => null);
    });
    if (reply !== null) return reply;
    if (leftMs() <= 0) return null;
  }
};

type WaitPart = { readonly by: CommandContext; readonly untilMs: number; readonly signal: AbortSignal | undefined };

/** One update. If its run ends, the next run is asked for the remaining time, not for the complete time again. */
const waitOnce = (
  { workflows, clock, newId }: OutcomeDeps,
  ref: ProcessRef,
  { by, untilMs, signal }: WaitPart,
): Promise<Reply | null> => {
  const beganMs = clock.monotonicMs();
  const endMs = Math.max(Math.min(untilMs, beganMs + OUTCOME_UPDATE_MS), beganMs);
  const argOf = (): OutcomeWait => ({ by, withinMs: Math.max(endMs - clock.monotonicMs(), 0) });
  const timeoutMs = endMs - beganMs + UPDATE_TIMEOUT_MS;
  return workflows.update<Reply | null>(ref, { name: OUTCOME, argOf, idOf: newId, timeoutMs, signal }).catch(threwOf);
};

const isBusy = (error: unknown): boolean => error instanceof Rejection && error.code === 'BUSY';
