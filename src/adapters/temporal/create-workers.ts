import { Context } from '@temporalio/activity';
import { type NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';

import { advanceProcess, type ProcessActivityDeps, runEffect } from '../../../activities/process-activities.js';
import { nearestDeadlines } from '../../../activities/nearest-deadlines.js';
import { createStepBatches } from '../../../activities/step-batch.js';
import type { ShardActivities } from '../../../workflows/temporal/process-batch.js';
import { EFFECT_SILENCE_MS } from '../../kernel/processes/process-limits.js';
import {
  backgroundQueueOf,
  type ProcessActivities,
  type StepArgs,
  type StepResult,
} from '../../kernel/processes/process-step.js';
import type { EventStore } from '../../ports/event-store.js';
import type { Log } from '../../ports/log.js';
import type { WorkOutcome } from '../../ports/metrics.js';
import { loadWorkflowBundle } from './bundle.js';
import { dataConverterOf } from './connection.js';
import { countWork, type WorkMetrics } from './count-work.js';
import { TASK_TIMEOUT, taskQueueOf, type TemporalAddress } from './names.js';

/** Workflows kept in memory. If more processes are in flight than this, each step replays its history. */
const CACHED_WORKFLOWS = 5_000;
/**
 * Workflow tasks and steps that run at the same time. A worker accepts no more than it finishes well within TASK_TIMEOUT: work that waits on the
 * server costs nothing, and work that times out in a worker is done twice.
 */
const TASKS_AT_ONCE = 32;
const STEPS_AT_ONCE = 64;
/** Effects, which mostly wait for others, and reads of the index. */
const EFFECTS_AT_ONCE = 100;
/** Effects in the background, such as the slices of ghosts: many share one processor, and work that waits on the server costs nothing. */
const BACKGROUND_EFFECTS_AT_ONCE = 32;
/** How often an effect sends a heartbeat, in milliseconds. */
const HEARTBEAT_MS = EFFECT_SILENCE_MS / 5;
/** How long steps may continue after the worker is stopped. */
const STOP_GRACE = '5s';
const STOP_FORCE = '8s';

export type ProcessWorkerOptions = TemporalAddress & {
  readonly deps: ProcessActivityDeps;
  readonly events: Pick<EventStore, 'openProcesses'>;
  readonly log: Log;
  /** The metrics in which the worker counts its work. */
  readonly metrics?: WorkMetrics;
  /** As `loadWorkflowBundle` returns it; loaded if absent. */
  readonly bundle?: { readonly codePath: string } | { readonly code: string };
  /** Stops without waiting for running work, like a killed process. */
  readonly abrupt?: boolean;
};

/** One worker for workflows and for work that a caller waits for, and one for the background, which leaves the permits of the first to others. */
export const createWorkers = async (
  connection: NativeConnection,
  options: ProcessWorkerOptions,
): Promise<readonly Worker[]> => {
  const { abrupt = false } = options;
  const activities = activitiesOf(options);
  const taskQueue = taskQueueOf(options.namespace);
  const common: Omit<WorkerOptions, 'taskQueue'> = {
    connection,
    namespace: options.temporalNamespace,
    dataConverter: dataConverterOf(options),
    // Cancellation reaches an effect with its heartbeats.
    maxHeartbeatThrottleInterval: HEARTBEAT_MS,
    defaultHeartbeatThrottleInterval: HEARTBEAT_MS,
    shutdownGraceTime: abrupt ? 0 : STOP_GRACE,
    shutdownForceTime: abrupt ? '1s' : STOP_FORCE,
  };
  const background = await Worker.create({
    ...common,
    taskQueue: backgroundQueueOf(taskQueue),
    activities: { runEffect: activities.runEffect },
    maxConcurrentActivityTaskExecutions: BACKGROUND_EFFECTS_AT_ONCE,
  });
  try {
    const first = await Worker.create({
      ...common,
      taskQueue,
      workflowBundle: options.bundle ?? (await loadWorkflowBundle(options.payloads?.encrypts)),
      activities,
      maxCachedWorkflows: CACHED_WORKFLOWS,
      maxConcurrentWorkflowTaskExecutions: TASKS_AT_ONCE,
      maxConcurrentLocalActivityExecutions: STEPS_AT_ONCE,
      maxConcurrentActivityTaskExecutions: EFFECTS_AT_ONCE,
      stickyQueueScheduleToStartTimeout: TASK_TIMEOUT,
    });
    return [first, background];
  } catch (error) {
    await dropUnused(background);
    throw error;
  }
};

/** A worker releases its connection only after having run. */
const dropUnused = async (worker: Worker): Promise<void> => {
  const running = worker.run();
  worker.shutdown();
  await running;
};

const activitiesOf = ({ deps, events, metrics }: ProcessWorkerOptions) => {
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
          // An effect that ignores its signal is left behind, so that it cannot block the worker.
          return await Promise.race([runEffect(deps, ref, effectId, context.cancellationSignal), context.cancelled]);
        } finally {
          clearInterval(beat);
        }
      });
    },
  } satisfies ProcessActivities & ShardActivities;
};

const wayOf = ({ reply }: StepResult): WorkOutcome => ('refused' in reply ? 'refused' : 'done');
