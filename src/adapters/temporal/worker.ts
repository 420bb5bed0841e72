import { DefaultLogger, Runtime, type Worker } from '@temporalio/worker';

import type { Log } from '../../ports/log.js';
import { openNativeConnection } from './connection.js';
import { createWorkers, type ProcessWorkerOptions } from './create-workers.js';
import { refusedByTemporal } from './refusal.js';
import { runTogether, stopAll } from './run-together.js';

/** How long the server may take to confirm that it has the namespace, in milliseconds: it may accept connections and not answer. */
const NAMESPACE_MS = 5_000;
/** How long after the server was lost it is tried again, in milliseconds. */
const RECONNECT_MS = 1_000;

export type ProcessWorker = AsyncDisposable & {
  /** Whether it accepts tasks now. */
  running(): boolean;
  /** Resolves when it accepts tasks for the first time. */
  readonly started: Promise<void>;
};

/**
 * Runs workflows and activities of the namespace's task queues until it is disposed of. It waits for an unavailable server, and reconnects to one
 * that was lost.
 */
export const startProcessWorker = (options: ProcessWorkerOptions): ProcessWorker => {
  installRuntime(options.log);
  let stopped = false;
  const isStopped = (): boolean => stopped;
  let workers: readonly Worker[] = [];
  let wake: () => void = () => undefined;
  let onStarted: () => void = () => undefined;
  const started = new Promise<void>((resolve) => (onStarted = resolve));

  const serve = async (): Promise<void> => {
    const connection = await openNativeConnection(options);
    try {
      // A worker that cannot be created leaves its threads behind: none is created before the server has confirmed the namespace.
      const { workflowService } = connection;
      const namespace = { namespace: options.temporalNamespace };
      await connection
        .withDeadline(Date.now() + NAMESPACE_MS, () => workflowService.describeNamespace(namespace))
        .catch(refusedByTemporal);
      if (isStopped()) return;
      workers = await createWorkers(connection, options);
      const running = runTogether(workers);
      onStarted();
      // Told to stop while they were created.
      if (isStopped()) stopAll(workers);
      await running;
    } finally {
      workers = [];
      await connection.close();
    }
  };
  const paused = (): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, RECONNECT_MS);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
      if (stopped) wake();
    });
  const supervise = async (): Promise<void> => {
    while (!stopped) {
      await serve().catch((error: unknown) => {
        options.log.error({ err: error }, 'The worker lost the connection to Temporal; reconnecting');
      });
      await paused();
    }
  };
  const supervised = supervise();
  return {
    running: () => workers.length > 0 && workers.every((worker) => worker.getState() === 'RUNNING'),
    started,
    async [Symbol.asyncDispose]() {
      stopped = true;
      wake();
      stopAll(workers);
      await supervised;
    },
  };
};

/** The SDK's warning about a worker for activities alone, which is intentional here. */
const NO_WORKFLOWS = 'No workflows registered, not polling for workflow tasks';

let runtimeInstalled = false;

/** The SDK has one runtime per process. Its signal handlers are left out: the program that started this one decides when it stops. */
export const installRuntime = (log: Log): void => {
  if (runtimeInstalled) return;
  runtimeInstalled = true;
  const logger = new DefaultLogger('WARN', ({ level, message, meta }) => {
    if (level === 'ERROR') log.error(meta ?? {}, message);
    else if (message !== NO_WORKFLOWS) log.warn(meta ?? {}, message);
  });
  const telemetryOptions = { logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } } } as const;
  Runtime.install({ logger, telemetryOptions, shutdownSignals: [] });
};
