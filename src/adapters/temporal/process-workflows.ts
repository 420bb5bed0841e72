import { setTimeout as sleep } from 'node:timers/promises';

import { Client, type Connection, WithStartWorkflowOperation } from '@temporalio/client';
import type { Workflow } from '@temporalio/common';

import type { RunInput } from '../../../workflows/process-step.js';
import { Rejection } from '../../domain/shared/rejection.js';
import type { Clock } from '../../ports/clock.js';
import type { ProcessRef } from '../../ports/process-engine.js';
import { within } from '../shared/within.js';
import { updateFailureOf } from './failures.js';
import { dataConverterOf, openConnection } from './connection.js';
import {
  registerSearchAttributes,
  searchAttributesOf,
  TASK_TIMEOUT,
  taskQueueOf,
  type TemporalAddress,
  workflowIdOf,
} from './names.js';

/** How often Temporal is asked whether it is there while an answer is awaited, and how long it may take to say so, in milliseconds. */
const PROBE_EVERY_MS = 1_000;
const PROBE_TIMEOUT_MS = 800;
/** How long ago a worker may have asked for work, in milliseconds: one that is idle asks again after a minute. */
const WORKER_SEEN_MS = 75_000;
/** temporal.api.enums.v1.TaskQueueType, which the client does not export. */
const WORKFLOW_TASKS = 1 as never;
/** How long starting a workflow may take, in milliseconds. */
const START_TIMEOUT_MS = 8_000;
/** How long a refused connection, or a process for which too many wait, is tried again, and the pauses between, in milliseconds. */
const PATIENCE_MS = 1_000;
const PAUSE_MS = [5, 10, 20, 50, 100, 100, 200, 200] as const;
/** How often one update is sent. */
const ATTEMPTS = 40;
const RETRY_AFTER_SECONDS = 1;

/** One update of a process's workflow. `argOf` and `idOf` are asked at each attempt: less time may be left, and the server answers one id once. */
export type Update = {
  readonly name: string;
  readonly argOf: () => unknown;
  readonly idOf: () => string;
  /** How long all attempts may take, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
};

/** The workflows of processes on one Temporal, and the connection to it. */
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
   * Sends an update, and starts the workflow where none runs.
   * @throws what the handler throws, wrapped (see `updateFailureOf`), the reason of the signal, Rejection ENGINE_UNAVAILABLE within 2 s when
   * Temporal is away, BUSY when it or the workflow takes no more, NOT_READY once this was disposed of
   */
  async update<Result>(ref: ProcessRef, { signal, timeoutMs, ...update }: Update): Promise<Result> {
    const beganMs = this.#clock.monotonicMs();
    const leftMs = (): number => beganMs + timeoutMs - this.#clock.monotonicMs();
    let fullSinceMs: number | null = null;
    for (let attempt = 0; attempt < ATTEMPTS && leftMs() > 0; attempt += 1) {
      if (this.#stopped) throw new Rejection('NOT_READY', { retryAfter: RETRY_AFTER_SECONDS });
      signal?.throwIfAborted();
      try {
        const send = () => this.#send<Result>(ref, update, leftMs());
        return await this.#watched(signal === undefined ? send() : this.#connection.withAbortSignal(signal, send));
      } catch (error) {
        signal?.throwIfAborted();
        const { kind } = updateFailureOf(error);
        if (kind === 'threw' || kind === 'defect') throw error;
        const nowMs = this.#clock.monotonicMs();
        // A wait that loses its place with its run has been under way for long already.
        fullSinceMs = kind === 'full' ? (fullSinceMs ?? nowMs) : null;
        if (fullSinceMs !== null && nowMs - fullSinceMs >= PATIENCE_MS)
          throw new Rejection('BUSY', { retryAfter: RETRY_AFTER_SECONDS });
        if (kind === 'away' && nowMs - beganMs >= PATIENCE_MS) break;
        if (kind === 'unknownAttributes') await this.#register().catch(() => undefined);
      }
      await sleep(PAUSE_MS[Math.min(attempt, PAUSE_MS.length - 1)] ?? 0);
    }
    throw new Rejection('ENGINE_UNAVAILABLE', { retryAfter: RETRY_AFTER_SECONDS });
  }

  /** Starts the workflow of an open process unless one runs. */
  async start(ref: ProcessRef): Promise<void> {
    const start = () =>
      this.#connection.withDeadline(Date.now() + START_TIMEOUT_MS, () =>
        this.#client.workflow.start(ref.process, {
          ...this.#startOptions(ref, true),
          workflowIdConflictPolicy: 'USE_EXISTING',
        }),
      );
    await start().catch(async (error: unknown) => {
      if (updateFailureOf(error).kind !== 'unknownAttributes') throw error;
      await this.#register();
      await start();
    });
  }

  /** Resolves when Temporal answers; rejects when it does not within 0.8 s. */
  async ping(): Promise<void> {
    const deadline = Date.now() + PROBE_TIMEOUT_MS;
    await this.#connection.withDeadline(deadline, () => this.#connection.workflowService.getSystemInfo({}));
  }

  /** Whether some worker has asked for work lately; rejects when Temporal does not answer within 0.8 s. */
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

  /** No update is tried again from now on. */
  stop(): void {
    this.#stopped = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
    await this.#connection.close();
  }

  #send<Result>(
    ref: ProcessRef,
    { name, argOf, idOf }: Pick<Update, 'name' | 'argOf' | 'idOf'>,
    leftMs: number,
  ): Promise<Result> {
    const startWorkflowOperation = new WithStartWorkflowOperation(ref.process, {
      ...this.#startOptions(ref, false),
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

  /** Waits for an answer as long as Temporal answers pings: a server that is away says nothing. */
  async #watched<T>(answer: Promise<T>): Promise<T> {
    const done = answer.then(
      () => true as const,
      () => true as const,
    );
    while ((await within(PROBE_EVERY_MS, done)) === null) {
      await Promise.race([done, this.ping()]);
    }
    return answer;
  }

  #startOptions(ref: ProcessRef, takeUp: boolean) {
    const { namespace } = this.#at;
    const run: RunInput = { ref, takeUp };
    return {
      workflowId: workflowIdOf(namespace, ref),
      taskQueue: taskQueueOf(namespace),
      args: [run],
      workflowTaskTimeout: TASK_TIMEOUT,
      typedSearchAttributes: searchAttributesOf(ref),
      memo: { stream: ref.stream },
    } as const;
  }

  #register(): Promise<void> {
    return registerSearchAttributes(this.#connection, this.#at.temporalNamespace);
  }
}
