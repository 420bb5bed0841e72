import { CancelledFailure } from '@temporalio/common';

import { Rejection } from '../../kernel/base/rejection.js';
import type { Metrics, WorkerTask, WorkOutcome } from '../../ports/metrics.js';

/** The metrics in which a worker counts its work. */
export type WorkMetrics = Pick<Metrics, 'begin' | 'work'>;

/**
 * Does a piece of work for a process of this name, and counts it with its outcome.
 * @param outcomeOf the outcome of work that returned; default `done`. Work that throws has failed, unless it was refused or cancelled.
 * @throws what the work throws
 */
export const countWork = async <T>(
  metrics: WorkMetrics | undefined,
  task: WorkerTask,
  process: string,
  work: () => Promise<T>,
  outcomeOf: (result: T) => WorkOutcome = () => 'done',
): Promise<T> => {
  if (metrics === undefined) return work();
  const begun = metrics.begin();
  let outcome: WorkOutcome = 'failed';
  try {
    const result = await work();
    outcome = outcomeOf(result);
    return result;
  } catch (error) {
    if (error instanceof Rejection || error instanceof CancelledFailure) outcome = 'refused';
    throw error;
  } finally {
    metrics.work(task, process, outcome, begun);
  }
};
