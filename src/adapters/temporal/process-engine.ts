import { requireTellable } from '../../../activities/process-activities.js';
import type { HostedProcess } from '../../app/processes/hosted-process.js';
import { type Ask, type Fact, type Reply, TELL } from '../../../workflows/process-step.js';
import type { ProcessJournal } from '../../app/processes/process-journal.js';
import { Rejection } from '../../domain/shared/rejection.js';
import type { Clock } from '../../ports/clock.js';
import type { EventStore } from '../../ports/event-store.js';
import type { Log } from '../../ports/log.js';
import type { CommandContext } from '../../domain/shared/command-context.js';
import {
  type StepAnswer,
  type ProcessEngine,
  type ProcessInput,
  type ProcessRef,
  type Wait,
} from '../../ports/process-engine.js';
import type { Random } from '../../ports/random.js';
import { ASK_TIMEOUT_MS, digestOf, replyTo } from './ask-reply.js';
import { threwOf } from './failures.js';
import type { TemporalAddress } from './names.js';
import { awaitOutcome } from './outcome-wait.js';
import { ProcessWorkflows } from './process-workflows.js';
import { OpenProcessSweep } from './sweep.js';
import { defined } from '../../domain/shared/defined.js';

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
 * The Temporal shell, seen from those who ask: everything is an update of the process's workflow, which is started by it where none runs.
 * Temporal away: Rejection ENGINE_UNAVAILABLE within 2 s. Reads never come here.
 */
export class TemporalProcessEngine implements ProcessEngine {
  readonly #deps: TemporalEngineDeps;
  readonly #workflows: ProcessWorkflows;
  readonly #sweep: OpenProcessSweep;

  constructor(deps: TemporalEngineDeps) {
    this.#deps = deps;
    this.#workflows = new ProcessWorkflows(deps, deps.clock);
    this.#sweep = new OpenProcessSweep({ ...deps, takeUp: (ref) => this.#workflows.start(ref) });
  }

  /** Begins to take up open processes whose workflow is lost, in the background: Temporal may be away, and there may be many. */
  start(): Promise<void> {
    this.#sweep.start();
    return Promise.resolve();
  }

  async ask(ref: ProcessRef, inputs: readonly ProcessInput[], by: CommandContext): Promise<StepAnswer> {
    const ask: Ask = { stream: ref.stream, inputs, by, token: this.#token() };
    return this.#asked(ref, inputs, await replyTo(this.#sending(), ref, ask));
  }

  /** Resolves when the workflow has the fact in its history: from then on it has it recorded, however long the store is away. */
  async tell(ref: ProcessRef, inputs: readonly ProcessInput[], by: CommandContext): Promise<void> {
    const fact: Fact = { inputs, by };
    requireTellable(inputs);
    const id = digestOf(ref, [TELL, by.commandId, inputs]);
    const update = { name: TELL, argOf: () => fact, idOf: () => id, timeoutMs: ASK_TIMEOUT_MS };
    await this.#workflows.update(ref, update).catch(threwOf);
  }

  async outcome(ref: ProcessRef, by: CommandContext, wait: Wait): Promise<StepAnswer | null> {
    const reply = await awaitOutcome({ ...this.#sending(), newId: () => this.#token() }, ref, by, wait);
    return reply === null ? null : this.#asked(ref, [], reply);
  }

  /** Resolves when Temporal answers; rejects when it does not within 0.8 s. */
  ping(): Promise<void> {
    return this.#workflows.ping();
  }

  /** Whether some worker has asked for work lately; rejects when Temporal does not answer within 0.8 s. */
  hasWorkers(): Promise<boolean> {
    return this.#workflows.hasWorkers();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#workflows.stop();
    await this.#sweep.stop();
    await this.#workflows[Symbol.asyncDispose]();
  }

  /** @throws Rejection what the step was refused with */
  async #asked(ref: ProcessRef, inputs: readonly ProcessInput[], reply: Reply): Promise<StepAnswer> {
    if ('refused' in reply) {
      const { code, message, details, retryAfter } = reply.refused;
      throw new Rejection(code, { message, details, ...defined({ retryAfter }) });
    }
    const { revision, position } = reply;
    return { answer: await this.#answerOf(ref, inputs, reply), revision, position };
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

  #sending() {
    return { workflows: this.#workflows, clock: this.#deps.clock };
  }

  #token(): string {
    return Buffer.from(this.#deps.random.bytes(12)).toString('base64url');
  }
}
