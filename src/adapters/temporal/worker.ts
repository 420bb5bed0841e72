import { Context } from '@temporalio/activity';
import { DefaultLogger, type NativeConnection, Runtime, Worker } from '@temporalio/worker';

import { advanceProcess, type ProcessActivityDeps, runEffect } from '../../../activities/process-activities.js';
import { nearestDeadlines } from '../../../activities/nearest-deadlines.js';
import { createStepBatches } from '../../../activities/step-batch.js';
import type { ShardActivities } from '../../../workflows/process-batch.js';
import { FAR_EFFECT_SILENCE_MS } from '../../../workflows/process-limits.js';
import type { ProcessActivities, StepArgs, StepResult } from '../../../workflows/process-step.js';
import type { EventStore } from '../../ports/event-store.js';
import type { Log } from '../../ports/log.js';
import type { WorkOutcome } from '../../ports/metrics.js';
import { loadWorkflowBundle } from './bundle.js';
import { dataConverterOf, openNativeConnection } from './connection.js';
import { countWork, type WorkMetrics } from './count-work.js';
import { temporalRefusal } from './refusal.js';
import { TASK_TIMEOUT, taskQueueOf, type TemporalAddress } from './names.js';

/** Workflows kept in memory. More processes in flight than this and each step replays its history. */
const CACHED_WORKFLOWS = 5_000;
/**
 * Workflow tasks and steps that run at the same time. A worker takes no more than it finishes well within TASK_TIMEOUT: what waits on the server
 * costs nothing, and what times out in a worker is done twice.
 */
const TASKS_AT_ONCE = 32;
const STEPS_AT_ONCE = 64;
/** Far effects, which mostly wait for others, and reads of the index. Sessions of ghosts take one each while they play, so agents need some beside them. */
const EFFECTS_AT_ONCE = 400;
/** How often a far effect says that it is alive, in milliseconds. */
const HEARTBEAT_MS = FAR_EFFECT_SILENCE_MS / 5;
/** How long steps may go on once the worker is told to stop. */
const STOP_GRACE = '5s';
const STOP_FORCE = '8s';
/** How long the server may take to say that it has the namespace, in milliseconds: it may accept connections and not answer. */
const NAMESPACE_MS = 5_000;
/** How long after the server was lost it is tried again, in milliseconds. */
const RECONNECT_MS = 1_000;

export type ProcessWorkerOptions = TemporalAddress & {
  readonly deps: ProcessActivityDeps;
  readonly events: Pick<EventStore, 'openProcesses'>;
  readonly log: Log;
  /** What the worker has done is counted here. */
  readonly metrics?: WorkMetrics;
  /** As `loadWorkflowBundle` gives it; loaded when left out. */
  readonly bundle?: { readonly codePath: string } | { readonly code: string };
  /** Stops without waiting for what runs, as a killed process does. */
  readonly abrupt?: boolean;
};

export type ProcessWorker = AsyncDisposable & {
  /** Whether it takes tasks now. */
  running(): boolean;
  /** Resolves when it takes tasks for the first time. */
  readonly started: Promise<void>;
};

/**
 * Runs workflows and activities of the namespace's task queue until it is disposed of. A server that is absent is waited for, one that is lost
 * is taken up again.
 */
export const startProcessWorker = (options: ProcessWorkerOptions): ProcessWorker => {
  installRuntime(options.log);
  let stopped = false;
  const isStopped = (): boolean => stopped;
  let worker: Worker | null = null;
  let wake: () => void = () => undefined;
  let onStarted: () => void = () => undefined;
  const started = new Promise<void>((resolve) => (onStarted = resolve));

  const serve = async (): Promise<void> => {
    const connection = await openNativeConnection(options);
    try {
      // A worker that cannot be made leaves its threads behind: nothing is made before the server is known to have the namespace.
      const { workflowService } = connection;
      const namespace = { namespace: options.temporalNamespace };
      await connection
        .withDeadline(Date.now() + NAMESPACE_MS, () => workflowService.describeNamespace(namespace))
        .catch((error: unknown) => {
          throw temporalRefusal(error, options);
        });
      if (isStopped()) return;
      worker = await createWorker(connection, options);
      const running = worker.run();
      onStarted();
      // Told to stop while it was made: a worker lets go of its connection only by having run.
      if (isStopped()) worker.shutdown();
      await running;
    } finally {
      worker = null;
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
        options.log.error({ err: error }, 'the process worker lost its server; it is tried again');
      });
      await paused();
    }
  };
  const supervised = supervise();
  return {
    running: () => worker?.getState() === 'RUNNING',
    started,
    async [Symbol.asyncDispose]() {
      stopped = true;
      wake();
      if (worker?.getState() === 'RUNNING') worker.shutdown();
      await supervised;
    },
  };
};

const createWorker = async (connection: NativeConnection, options: ProcessWorkerOptions): Promise<Worker> =>
  Worker.create({
    connection,
    namespace: options.temporalNamespace,
    taskQueue: taskQueueOf(options.namespace),
    workflowBundle: options.bundle ?? (await loadWorkflowBundle(options.payloads?.encrypts)),
    dataConverter: dataConverterOf(options),
    activities: activitiesOf(options),
    maxCachedWorkflows: CACHED_WORKFLOWS,
    maxConcurrentWorkflowTaskExecutions: TASKS_AT_ONCE,
    maxConcurrentLocalActivityExecutions: STEPS_AT_ONCE,
    maxConcurrentActivityTaskExecutions: EFFECTS_AT_ONCE,
    stickyQueueScheduleToStartTimeout: TASK_TIMEOUT,
    // Cancelling a far effect travels with its heartbeats.
    maxHeartbeatThrottleInterval: HEARTBEAT_MS,
    defaultHeartbeatThrottleInterval: HEARTBEAT_MS,
    shutdownGraceTime: options.abrupt === true ? 0 : STOP_GRACE,
    shutdownForceTime: options.abrupt === true ? '1s' : STOP_FORCE,
  });

const activitiesOf = ({ deps, events, metrics }: ProcessWorkerOptions): ProcessActivities & ShardActivities => {
  const advance = (step: StepArgs) =>
    countWork(metrics, 'step', step.ref.process, () => advanceProcess(deps, step), wayOf);
  return {
    advanceProcess: advance,
    advanceBatch: createStepBatches({ clock: deps.clock, advance }),
    nearestDeadlines: (shard, without) => nearestDeadlines(events, shard, without),
    runEffect: (ref, effectId) => {
      const context = Context.current();
      return countWork(metrics, 'effect', ref.process, async () => {
        const beat = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
        try {
          // An effect that does not listen to its signal is left behind, so that it cannot hold the worker.
          return await Promise.race([runEffect(deps, ref, effectId, context.cancellationSignal), context.cancelled]);
        } finally {
          clearInterval(beat);
        }
      });
    },
  };
};

const wayOf = ({ reply }: StepResult): WorkOutcome => ('refused' in reply ? 'refused' : 'done');

let runtimeInstalled = false;

/** The SDK has one runtime in a process. Its signal handlers are left out: who started us decides when we stop. */
export const installRuntime = (log: Log): void => {
  if (runtimeInstalled) return;
  runtimeInstalled = true;
  const logger = new DefaultLogger('WARN', ({ level, message, meta }) => {
    if (level === 'ERROR') log.error(meta ?? {}, message);
    else log.warn(meta ?? {}, message);
  });
  const telemetryOptions = { logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } } } as const;
  Runtime.install({ logger, telemetryOptions, shutdownSignals: [] });
};
