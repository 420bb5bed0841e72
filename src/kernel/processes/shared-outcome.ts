import { Rejection } from '../base/rejection.js';
import type { CommandContext } from '../base/command-context.js';
import type { Clock } from '../../ports/clock.js';
import {
  OUTCOME_WAIT_MS,
  type ProcessRuntime,
  processKey,
  type ProcessRef,
  type StepAnswer,
} from '../../ports/process-runtime.js';
import { pause, retryMs } from '../concurrency/pause.js';
import type { SingleFlight } from '../concurrency/single-flight.js';
import { withTimeLimit } from '../concurrency/time-limit.js';

export type SharedOutcomeDeps = {
  readonly runtime: Pick<ProcessRuntime, 'outcome'>;
  readonly clock: Pick<Clock, 'after'>;
  /** The waits in progress. A runtime lets only a few callers wait for one outcome, so this server process waits once for each. */
  readonly waits: SingleFlight<StepAnswer>;
};

/**
 * The outcome of a process, for any number of callers. The wait ends only with the outcome, or when no caller waits any longer; if too many already
 * wait, it is retried.
 * @throws the reason of `left` for a caller that leaves early; what the runtime throws
 */
export const sharedOutcome = (
  { runtime, waits, clock }: SharedOutcomeDeps,
  ref: ProcessRef,
  by: CommandContext,
  left: AbortSignal,
): Promise<StepAnswer> =>
  waits.join(processKey(ref), left, async (signal) => {
    for (let refusals = 0; ;) {
      signal.throwIfAborted();
      try {
        const outcome = await runtime.outcome(ref, by, { withinMs: OUTCOME_WAIT_MS, signal });
        if (outcome !== null) return outcome;
        refusals = 0;
      } catch (error) {
        if (!(error instanceof Rejection) || error.code !== 'BUSY') throw error;
        refusals += 1;
        await pause(clock, retryMs(refusals), signal);
      }
    }
  });

/** The same with a timeout; null after it. @throws what the runtime throws */
export const outcomeWithin = async (
  deps: SharedOutcomeDeps,
  ref: ProcessRef,
  by: CommandContext,
  ms: number,
): Promise<StepAnswer | null> => {
  const late = new Error('the time is up');
  try {
    return await withTimeLimit(deps.clock, { ms, late: () => late }, (left) => sharedOutcome(deps, ref, by, left));
  } catch (error) {
    if (error === late) return null;
    throw error;
  }
};
