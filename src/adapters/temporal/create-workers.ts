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

/** Workflows kept in memory. More processes in flight than this and each step replays its history. */
const CACHED_WORKFLOWS = 5_000;
/**
 * Workflow tasks and steps that run at the same time. A worker takes no more than it finishes well within TASK_TIMEOUT: what waits on the server
 * costs nothing, and what times out in a worker is done twice.
 */
const TASKS_AT_ONCE = 32;
const STEPS_AT_ONCE = 64;
/** Effects, which mostly wait for others, and reads of the index. */
const EFFECTS_AT_ONCE = 100;
/** Effects in the background, such as what ghosts play: many share one processor, and what waits on the server costs nothing. */
const BACKGROUND_EFFECTS_AT_ONCE = 32;
/** How often an effect says that it is alive, in milliseconds. */
const HEARTBEAT_MS = EFFECT_SILENCE_MS / 5;
/** How long steps may go on once the worker is told to stop. */
const STOP_GRACE = '5s';
const STOP_FORCE = '8s';

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

/** One for workflows and for what somebody waits for, and one for the background, which leaves the permits of the first to others. */
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
    // Cancelling an effect travels with its heartbeats.
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

/** A worker lets go of its connection only by having run. */
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
          // An effect that does not listen to its signal is left behind, so that it cannot hold the worker.
          return await Promise.race([runEffect(deps, ref, effectId, context.cancellationSignal), context.cancelled]);
        } finally {
          clearInterval(beat);
        }
      });
    },
  } satisfies ProcessActivities & ShardActivities;
};

const wayOf = ({ reply }: StepResult): WorkOutcome => ('refused' in reply ? 'refused' : 'done');
