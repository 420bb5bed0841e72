import type { ProcessActivityDeps } from '../../activities/process-activities.js';
import type { TemporalAddress } from '../adapters/temporal/names.js';
import { type ProcessWorker, startProcessWorker } from '../adapters/temporal/worker.js';
import type { EventStore } from '../ports/event-store.js';
import type { Log } from '../ports/log.js';
import type { Metrics } from '../ports/metrics.js';
import type { ProcessRuntime } from '../ports/process-runtime.js';

export type WorkerRoleOptions = TemporalAddress & {
  readonly deps: ProcessActivityDeps;
  /** Whose index says which processes are open. */
  readonly events: Pick<EventStore, 'openProcesses'>;
  /** Resumes open processes whose workflow is missing. */
  readonly runtime: Pick<ProcessRuntime, 'start'>;
  readonly metrics: Metrics;
  readonly log: Log;
};

/**
 * The worker role: carries out the steps, deadlines and effects of processes. Any number may run. It also starts while Temporal is down, and
 * serves as soon as Temporal is up.
 */
export const startWorker = async ({ runtime, ...options }: WorkerRoleOptions): Promise<ProcessWorker> => {
  const worker = startProcessWorker(options);
  await runtime.start();
  return worker;
};
