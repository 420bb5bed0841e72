import type { Worker } from '@temporalio/worker';

/** The part of an SDK worker that runs and stops it. */
export type RunnableWorker = Pick<Worker, 'getState' | 'run' | 'shutdown'>;

/** Stops the workers that run; only a worker that has run can be stopped. */
export const stopAll = (workers: readonly RunnableWorker[]): void => {
  for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
};

/**
 * Runs workers of one connection, which can be closed only once all of them have ended: when one ends, the others are stopped and awaited.
 * @throws what one of them failed with
 */
export const runTogether = async (workers: readonly RunnableWorker[]): Promise<void> => {
  const ends = await Promise.allSettled(workers.map((worker) => worker.run().finally(() => stopAll(workers))));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
};
