import type { Metrics, WorkerTask, WorkOutcome } from '../../ports/metrics.js';

/** Where a worker counts what it does. */
export type WorkMetrics = Pick<Metrics, 'begin' | 'work'>;

/**
 * Does a piece of work for a process of this name, and counts it with its end.
 * @param outcomeOf how it ended when it returned; `done` without it. What throws has failed.
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
  } finally {
    metrics.work(task, process, outcome, begun);
  }
};
