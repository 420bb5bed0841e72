import { setTimeout as sleep } from 'node:timers/promises';

import { Client, type Connection, WithStartWorkflowOperation } from '@temporalio/client';
import type { Workflow } from '@temporalio/common';

import type { HostedProcess } from '../../app/processes/hosted-process.js';
import { type Answered, ASK, type Ask, type ProcessRun, type Reply } from '../../../workflows/process-step.js';
import type { ProcessJournal } from '../../app/processes/process-journal.js';
import { jcs } from '../../domain/shared/json.js';
import { Rejection } from '../../domain/shared/rejection.js';
import type { Clock } from '../../ports/clock.js';
import type { EventStore } from '../../ports/event-store.js';
import type { Log } from '../../ports/log.js';
import type { Asked, AskedBy, ProcessEngine, ProcessInput, ProcessRef } from '../../ports/process-engine.js';
import type { Random } from '../../ports/random.js';
import { askFailureOf } from './failures.js';
import {
  openConnection,
  registerSearchAttributes,
  searchAttributesOf,
  TASK_TIMEOUT,
  taskQueueOf,
  type TemporalAddress,
  workflowIdOf,
} from './names.js';
import { OpenProcessSweep } from './sweep.js';
import { within } from '../shared/within.js';
import { sha256Base64url } from '../../domain/shared/sha256.js';

/** How long one ask may take while Temporal answers, in milliseconds: a killed worker's process goes on elsewhere within 2 s. */
const ASK_TIMEOUT_MS = 8_000;
/** How often Temporal is asked whether it is there while an answer is awaited, and how long it may take to say so, in milliseconds. */
const PROBE_EVERY_MS = 1_000;
const PROBE_TIMEOUT_MS = 800;
/** How long ago a worker may have asked for work, in milliseconds: one that is idle asks again after a minute. */
const WORKER_SEEN_MS = 75_000;
/** temporal.api.enums.v1.TaskQueueType, which the client does not export. */
const WORKFLOW_TASKS = 1 as never;
/** How long a refused connection, or a process for which too many wait, is tried again, and the pauses between, in milliseconds. */
const PATIENCE_MS = 1_000;
const PAUSE_MS = [5, 10, 20, 50, 100, 100, 200, 200] as const;
/** How often one ask is sent. */
const ASK_ATTEMPTS = 40;
const RETRY_AFTER_SECONDS = 1;

export type TemporalEngineDeps = TemporalAddress & {
  readonly events: Pick<EventStore, 'openProcesses'>;
  /** Answers too large to travel are made again from the stream. */
  readonly journal: Pick<ProcessJournal, 'at'>;
  readonly processes: Readonly<Record<string, Pick<HostedProcess, 'process'>>>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Pick<Log, 'error' | 'info'>;
};

/**
 * The Temporal shell, seen from those who ask: each ask is one update of the process's workflow, which is started by it where none runs.
 * Temporal away: Rejection ENGINE_UNAVAILABLE within 2 s. Reads never come here.
 */
export class TemporalProcessEngine implements ProcessEngine {
  readonly #deps: TemporalEngineDeps;
  readonly #connection: Connection;
  readonly #client: Client;
  readonly #sweep: OpenProcessSweep;
  #stopped = false;

  constructor(deps: TemporalEngineDeps) {
    this.#deps = deps;
    this.#connection = openConnection(deps.address);
    this.#client = new Client({ connection: this.#connection, namespace: deps.temporalNamespace });
    this.#sweep = new OpenProcessSweep({ ...deps, takeUp: (ref) => this.#takeUp(ref) });
  }

  /** Begins to take up open processes whose workflow is lost, in the background: Temporal may be away, and there may be many. */
  start(): Promise<void> {
    this.#sweep.start();
    return Promise.resolve();
  }

  async ask(ref: ProcessRef, inputs: readonly ProcessInput[], by: AskedBy): Promise<Asked> {
    const token = Buffer.from(this.#deps.random.bytes(12)).toString('base64url');
    const ask: Ask = { inputs, by, token };
    const { reply } = await this.#answered(ref, ask);
    if ('refused' in reply) {
      const { code, message, details, retryAfter } = reply.refused;
      throw new Rejection(code, { message, details, ...(retryAfter === undefined ? {} : { retryAfter }) });
    }
    const { revision, position } = reply;
    return { answer: await this.#answerOf(ref, inputs, reply), revision, position };
  }

  /** Resolves when Temporal answers; rejects when it does not within 0.8 s. */
  async ping(): Promise<void> {
    const deadline = Date.now() + PROBE_TIMEOUT_MS;
    await this.#connection.withDeadline(deadline, () => this.#connection.workflowService.getSystemInfo({}));
  }

  /** Whether some worker has asked for work lately; rejects when Temporal does not answer within 0.8 s. */
  async hasWorkers(): Promise<boolean> {
    const { clock, namespace, temporalNamespace } = this.#deps;
    const { pollers } = await this.#connection.withDeadline(Date.now() + PROBE_TIMEOUT_MS, () =>
      this.#connection.workflowService.describeTaskQueue({
        namespace: temporalNamespace,
        taskQueue: { name: taskQueueOf(namespace) },
        taskQueueType: WORKFLOW_TASKS,
      }),
    );
    const sinceSeconds = (clock.now().getTime() - WORKER_SEEN_MS) / 1_000;
    return pollers.some(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) > sinceSeconds);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true;
    await this.#sweep.stop();
    await this.#connection.close();
  }

  /** Only answers are kept: a refusal or a failure that the server remembers of an earlier ask is asked for afresh. */
  async #answered(ref: ProcessRef, ask: Ask): Promise<Answered> {
    const { clock } = this.#deps;
    const beganMs = clock.monotonicMs();
    const untilMs = beganMs + ASK_TIMEOUT_MS;
    let updateId = digestOf(ref, ask);
    for (let attempt = 0; attempt < ASK_ATTEMPTS && clock.monotonicMs() < untilMs; attempt += 1) {
      if (this.#stopped) throw new Rejection('NOT_READY', { retryAfter: RETRY_AFTER_SECONDS });
      try {
        const answered = await this.#watched(this.#send(ref, ask, updateId, untilMs - clock.monotonicMs()));
        if (!('refused' in answered.reply) || answered.token === ask.token) return answered;
        updateId = `${updateId}.${ask.token}`;
        continue;
      } catch (error) {
        const failure = askFailureOf(error);
        if (failure.kind === 'threw') {
          if (failure.token === null || failure.token === ask.token) throw failure.cause;
          updateId = `${updateId}.${ask.token}`;
          continue;
        }
        if (failure.kind === 'defect') throw error;
        const patient = clock.monotonicMs() - beganMs < PATIENCE_MS;
        if (failure.kind === 'full' && !patient) throw new Rejection('BUSY', { retryAfter: RETRY_AFTER_SECONDS });
        if (failure.kind === 'away' && !patient) break;
        if (failure.kind === 'unknownAttributes') await this.#register().catch(() => undefined);
      }
      await sleep(PAUSE_MS[Math.min(attempt, PAUSE_MS.length - 1)] ?? 0);
    }
    throw new Rejection('ENGINE_UNAVAILABLE', { retryAfter: RETRY_AFTER_SECONDS });
  }

  #send(ref: ProcessRef, ask: Ask, updateId: string, leftMs: number): Promise<Answered> {
    const startWorkflowOperation = new WithStartWorkflowOperation(ref.process, {
      ...this.#startOptions(ref, false),
      workflowIdConflictPolicy: 'USE_EXISTING',
    });
    return this.#connection.withDeadline(Date.now() + leftMs, () =>
      this.#client.workflow.executeUpdateWithStart<Workflow, Answered, [Ask]>(ASK, {
        args: [ask],
        updateId,
        startWorkflowOperation,
      }),
    );
  }

  /** Waits for an answer as long as Temporal is there: whoever is away says nothing. */
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
    const { namespace } = this.#deps;
    const run: ProcessRun = { ref, takeUp };
    return {
      workflowId: workflowIdOf(namespace, ref),
      taskQueue: taskQueueOf(namespace),
      args: [run],
      workflowTaskTimeout: TASK_TIMEOUT,
      typedSearchAttributes: searchAttributesOf(ref),
      memo: { stream: ref.stream },
    } as const;
  }

  /** Starts the workflow of an open process unless one runs. */
  async #takeUp(ref: ProcessRef): Promise<void> {
    const start = () =>
      this.#connection.withDeadline(Date.now() + ASK_TIMEOUT_MS, () =>
        this.#client.workflow.start(ref.process, {
          ...this.#startOptions(ref, true),
          workflowIdConflictPolicy: 'USE_EXISTING',
        }),
      );
    await start().catch(async (error: unknown) => {
      if (askFailureOf(error).kind !== 'unknownAttributes') throw error;
      await this.#register();
      await start();
    });
  }

  #register(): Promise<void> {
    return registerSearchAttributes(this.#connection, this.#deps.temporalNamespace);
  }

  async #answerOf(
    ref: ProcessRef,
    inputs: readonly ProcessInput[],
    reply: Exclude<Reply, { refused: unknown }>,
  ): Promise<unknown> {
    if (reply.large !== true) return reply.answer;
    const process = this.#deps.processes[ref.process]?.process;
    if (process === undefined) throw new Error(`no process is named ${ref.process}`);
    const { state } = await this.#deps.journal.at(process, ref, reply.revision);
    return process.answer(state, inputs.at(-1));
  }
}

/** The same ask makes the same id, so that a repeat is answered by the server alone. */
const digestOf = (ref: ProcessRef, { inputs, by }: Ask): string =>
  sha256Base64url(jcs([ref.process, ref.id, ref.stream, by.commandId, inputs]));
