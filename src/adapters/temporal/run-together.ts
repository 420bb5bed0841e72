import type { Worker } from '@temporalio/worker';

/** A worker of the SDK, as far as it is run and stopped. */
export type RunnableWorker = Pick<Worker, 'getState' | 'run' | 'shutdown'>;

/** Tells those that run to stop; only what has run can be told so. */
export const stopAll = (workers: readonly RunnableWorker[]): void => {
  for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
};

/**
 * Runs workers of one connection, which can be closed only once none of them is left: when one ends, the others are told to stop, and are waited for.
 * @throws what one of them failed with
 */
export const runTogether = async (workers: readonly RunnableWorker[]): Promise<void> => {
  const ends = await Promise.allSettled(workers.map((worker) => worker.run().finally(() => stopAll(workers))));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
};
