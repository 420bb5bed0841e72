import { setTimeout as sleep } from 'node:timers/promises';

import { Client, type Connection, WithStartWorkflowOperation, WorkflowNotFoundError } from '@temporalio/client';
import type { Workflow } from '@temporalio/common';

import type { Shard, ShardInput } from '../../../workflows/temporal/process-batch.js';
import { LOOK, type RunInput } from '../../kernel/processes/process-step.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { abortWith } from '../../kernel/concurrency/abort-with.js';
import type { Clock } from '../../ports/clock.js';
import type { ProcessRef } from '../../ports/process-runtime.js';
import { runtimeRefusal } from './runtime-refusal.js';
import { updateFailureOf } from './failures.js';
import { dataConverterOf, openConnection } from './connection.js';
import {
  registerSearchAttributes,
  searchAttributesOf,
  shardAttributesOf,
  SHARD_TYPE,
  shardIdOf,
  TASK_TIMEOUT,
  taskQueueOf,
  type TemporalAddress,
  workflowIdOf,
} from './names.js';

/** The timeout of a ping of Temporal, in milliseconds. */
const PROBE_TIMEOUT_MS = 600;
/** The maximum age of a worker's last poll, in milliseconds: an idle worker polls again after a minute. */
const WORKER_SEEN_MS = 75_000;
/** temporal.api.enums.v1.TaskQueueType, which the client does not export. */
const WORKFLOW_TASKS = 1 as never;
/** How long starting a workflow may take, in milliseconds. */
const START_TIMEOUT_MS = 8_000;
/** How long a refused connection, or a process for which too many wait, is retried, and the pauses between, in milliseconds. */
const PATIENCE_MS = 1_000;
const PAUSE_MS = [5, 10, 20, 50, 100, 100, 200, 200] as const;
/** How often one update is sent. */
const ATTEMPTS = 40;

/** The addressee of an update: the workflow of one process, or of a shard. */
export type Addressee = ProcessRef | Shard;

/** One update of a workflow. `argOf` and `idOf` are called at each attempt: less time may be left, and the server answers one id once. */
export type Update = {
  readonly name: string;
  readonly argOf: () => unknown;
  readonly idOf: () => string;
  /** How long all attempts may take, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
};

type WorkflowStart = {
  readonly type: string;
  readonly workflowId: string;
  readonly taskQueue: string;
  readonly workflowTaskTimeout: typeof TASK_TIMEOUT;
  readonly args: [unknown];
  readonly typedSearchAttributes: ReturnType<typeof searchAttributesOf>;
  readonly memo: Record<string, unknown>;
};

/** @throws every other error */
const nullIfNotFound = (error: unknown): null => {
  if (error instanceof WorkflowNotFoundError) return null;
  throw error;
};

/** The workflows of processes and shards on one Temporal server, and the connection to it. */
export class ProcessWorkflows implements AsyncDisposable {
  readonly #at: TemporalAddress;
  readonly #clock: Clock;
  readonly #connection: Connection;
  readonly #client: Client;
  #stopped = false;

  constructor(at: TemporalAddress, clock: Clock) {
    this.#at = at;
    this.#clock = clock;
    this.#connection = openConnection(at);
    const options = { namespace: at.temporalNamespace, dataConverter: dataConverterOf(at) };
    this.#client = new Client({ connection: this.#connection, ...options });
  }

  /**
   * Sends an update, and starts the workflow if none runs.
   * @throws what the handler throws, wrapped (see `updateFailureOf`), the reason of the signal, Rejection ENGINE_UNAVAILABLE if Temporal refuses
   *   connections for a second or no answer comes in time, BUSY if it or the workflow accepts no more, NOT_READY once this was disposed of
   */
  async update<Result>(to: Addressee, { signal, timeoutMs, ...update }: Update): Promise<Result> {
    const beganMs = this.#clock.monotonicMs();
    const leftMs = (): number => beganMs + timeoutMs - this.#clock.monotonicMs();
    let fullSinceMs: number | null = null;
    for (let attempt = 0; attempt < ATTEMPTS && leftMs() > 0; attempt += 1) {
      if (this.#stopped) throw new Rejection('NOT_READY', { retryAfter: 1 });
      signal?.throwIfAborted();
      try {
        return await this.#attempt(signal, () => this.#send<Result>(to, update, leftMs()));
      } catch (error) {
        signal?.throwIfAborted();
        const { kind } = updateFailureOf(error);
        if (kind === 'threw' || kind === 'defect' || kind === 'late') throw error;
        const nowMs = this.#clock.monotonicMs();
        // A wait that loses its permit with its run has been in progress for long already.
        fullSinceMs = kind === 'full' ? (fullSinceMs ?? nowMs) : null;
        if (fullSinceMs !== null && nowMs - fullSinceMs >= PATIENCE_MS) throw runtimeRefusal('BUSY');
        if (kind === 'away' && nowMs - beganMs >= PATIENCE_MS) break;
        if (kind === 'unknownAttributes') await this.#register().catch(() => undefined);
      }
      await sleep(PAUSE_MS[Math.min(attempt, PAUSE_MS.length - 1)] ?? 0);
    }
    throw runtimeRefusal('ENGINE_UNAVAILABLE');
  }

  /** The client never removes its listener from a signal, so each attempt has a separate signal. */
  async #attempt<Result>(signal: AbortSignal | undefined, send: () => Promise<Result>): Promise<Result> {
    const attempt = new AbortController();
    const letGo = abortWith(attempt, signal);
    try {
      return await this.#connection.withAbortSignal(attempt.signal, send);
    } finally {
      letGo();
    }
  }

  /** Starts the workflow of an open process unless one runs. */
  async start(ref: ProcessRef): Promise<void> {
    await this.#begin(ref, ({ type, ...options }) =>
      this.#client.workflow.start(type, { ...options, workflowIdConflictPolicy: 'USE_EXISTING' }),
    );
  }

  /** Has the workflow of a shard look for open processes that it does not know, and starts it if none runs. */
  async look(shard: Shard): Promise<void> {
    await this.#begin(shard, ({ type, ...options }) =>
      this.#client.workflow.signalWithStart(type, { ...options, signal: LOOK, signalArgs: [] }),
    );
  }

  /** How often the pending task of a shard's workflow was tried, counting from 1, and in which run; null if none is pending. */
  async attemptOf(shard: Shard): Promise<{ readonly runId: string; readonly attempt: number } | null> {
    const described = await this.#within(() => this.#shardHandle(shard).describe().catch(nullIfNotFound));
    const attempt = described?.raw.pendingWorkflowTask?.attempt;
    return described === null || attempt === null || attempt === undefined ? null : { runId: described.runId, attempt };
  }

  /** Ends one run of a shard's workflow, unless it has ended. */
  async terminate(shard: Shard, runId: string, reason: string): Promise<void> {
    await this.#within(() => this.#shardHandle(shard, runId).terminate(reason).catch(nullIfNotFound));
  }

  /** Resolves if Temporal answers; rejects if it does not within 0.6 s. */
  async ping(): Promise<void> {
    const deadline = Date.now() + PROBE_TIMEOUT_MS;
    await this.#connection.withDeadline(deadline, () => this.#connection.workflowService.getSystemInfo({}));
  }

  /** Resolves if Temporal answers for this namespace; rejects if it does not within 0.6 s, or has none of this name. */
  async findNamespace(): Promise<void> {
    const { temporalNamespace: namespace } = this.#at;
    const deadline = Date.now() + PROBE_TIMEOUT_MS;
    await this.#connection.withDeadline(deadline, () =>
      this.#connection.workflowService.describeNamespace({ namespace }),
    );
  }

  /** Whether some worker has polled recently; rejects if Temporal does not answer within 0.6 s. */
  async hasWorkers(): Promise<boolean> {
    const { namespace, temporalNamespace } = this.#at;
    const { pollers } = await this.#connection.withDeadline(Date.now() + PROBE_TIMEOUT_MS, () =>
      this.#connection.workflowService.describeTaskQueue({
        namespace: temporalNamespace,
        taskQueue: { name: taskQueueOf(namespace) },
        taskQueueType: WORKFLOW_TASKS,
      }),
    );
    const sinceSeconds = (this.#clock.now().getTime() - WORKER_SEEN_MS) / 1_000;
    return pollers.some(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) > sinceSeconds);
  }

  /** Ends all retries of updates. */
  stop(): void {
    this.#stopped = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
    await this.#connection.close();
  }

  #send<Result>(
    to: Addressee,
    { name, argOf, idOf }: Pick<Update, 'name' | 'argOf' | 'idOf'>,
    leftMs: number,
  ): Promise<Result> {
    const { type, ...options } = this.#startOptions(to, false);
    const startWorkflowOperation = new WithStartWorkflowOperation(type, {
      ...options,
      workflowIdConflictPolicy: 'USE_EXISTING',
    });
    return this.#connection.withDeadline(Date.now() + leftMs, () =>
      this.#client.workflow.executeUpdateWithStart<Workflow, Result, [unknown]>(name, {
        args: [argOf()],
        updateId: idOf(),
        startWorkflowOperation,
      }),
    );
  }

  #shardHandle(shard: Shard, runId?: string) {
    return this.#client.workflow.getHandle(shardIdOf(this.#at.namespace, shard), runId);
  }

  #within<Result>(call: () => Promise<Result>): Promise<Result> {
    return this.#connection.withDeadline(Date.now() + START_TIMEOUT_MS, call);
  }

  /** Begins a call that needs no answer. This server's search attributes are registered if the server does not know them. */
  async #begin(to: Addressee, begin: (options: WorkflowStart) => Promise<unknown>): Promise<void> {
    const start = () => this.#within(() => begin(this.#startOptions(to, true)));
    await start().catch(async (error: unknown) => {
      if (updateFailureOf(error).kind !== 'unknownAttributes') throw error;
      await this.#register();
      await start();
    });
  }

  /** @param unasked whether the workflow would be started without an update, and so must look for what is open */
  #startOptions(to: Addressee, unasked: boolean): WorkflowStart {
    const { namespace } = this.#at;
    const common = { taskQueue: taskQueueOf(namespace), workflowTaskTimeout: TASK_TIMEOUT } as const;
    if ('stream' in to) {
      const run: RunInput = { ref: to, takeUp: unasked };
      return {
        ...common,
        type: to.process,
        workflowId: workflowIdOf(namespace, to),
        args: [run],
        typedSearchAttributes: searchAttributesOf(to),
        memo: { stream: to.stream },
      };
    }
    // A shard's workflow that was lost may have known of open processes.
    const run: ShardInput = { shard: to, look: true };
    return {
      ...common,
      type: SHARD_TYPE,
      workflowId: shardIdOf(namespace, to),
      args: [run],
      typedSearchAttributes: shardAttributesOf(to),
      memo: {},
    };
  }

  #register(): Promise<void> {
    return registerSearchAttributes(this.#connection, this.#at.temporalNamespace);
  }
}
