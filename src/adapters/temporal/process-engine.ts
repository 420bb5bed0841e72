import { requireTellable } from '../../../activities/process-activities.js';
import type { HostedProcess } from '../../app/processes/hosted-process.js';
import {
  type AskResult,
  ASK,
  type Ask,
  type Fact,
  OUTCOME,
  type OutcomeWait,
  type Reply,
  TELL,
} from '../../../workflows/process-step.js';
import type { ProcessJournal } from '../../app/processes/process-journal.js';
import { type Json, jcs } from '../../domain/shared/json.js';
import { Rejection } from '../../domain/shared/rejection.js';
import { sha256Base64url } from '../../domain/shared/sha256.js';
import type { Clock } from '../../ports/clock.js';
import type { EventStore } from '../../ports/event-store.js';
import type { Log } from '../../ports/log.js';
import type { CommandContext } from '../../domain/shared/command-context.js';
import {
  type StepAnswer,
  OUTCOME_WAIT_MS,
  type ProcessEngine,
  type ProcessInput,
  type ProcessRef,
  type Wait,
} from '../../ports/process-engine.js';
import type { Random } from '../../ports/random.js';
import { updateFailureOf } from './failures.js';
import type { TemporalAddress } from './names.js';
import { ProcessWorkflows, type Update } from './process-workflows.js';
import { OpenProcessSweep } from './sweep.js';
import { defined } from '../../domain/shared/defined.js';

/** How long one ask may take while Temporal answers, in milliseconds: a killed worker's process goes on elsewhere within 2 s. */
const ASK_TIMEOUT_MS = 8_000;
/** How long one update waits for an outcome, in milliseconds. A caller that has gone takes up a place for no longer than that. */
const OUTCOME_UPDATE_MS = 10_000;

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
    return this.#asked(ref, inputs, await this.#reply(ref, ask));
  }

  /** Resolves when the workflow has the fact in its history: from then on it has it recorded, however long the store is away. */
  async tell(ref: ProcessRef, inputs: readonly ProcessInput[], by: CommandContext): Promise<void> {
    const fact: Fact = { inputs, by };
    requireTellable(inputs);
    const id = digestOf(ref, [TELL, by.commandId, inputs]);
    await this.#updated(ref, { name: TELL, arg: fact, idOf: () => id, timeoutMs: ASK_TIMEOUT_MS });
  }

  async outcome(ref: ProcessRef, by: CommandContext, { withinMs, signal }: Wait): Promise<StepAnswer | null> {
    const { clock } = this.#deps;
    const untilMs = clock.monotonicMs() + Math.min(withinMs, OUTCOME_WAIT_MS);
    for (;;) {
      const waitMs = Math.min(Math.max(untilMs - clock.monotonicMs(), 0), OUTCOME_UPDATE_MS);
      const arg: OutcomeWait = { by, withinMs: waitMs };
      const idOf = (): string => this.#token();
      const update = { name: OUTCOME, arg, idOf, timeoutMs: waitMs + ASK_TIMEOUT_MS, signal };
      const reply = await this.#updated<Reply | null>(ref, update);
      if (reply !== null) return this.#asked(ref, [], reply);
      if (clock.monotonicMs() >= untilMs) return null;
    }
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

  /**
   * The same ask has the same update id, so that a repeat is answered by the server alone. Only answers are kept so: a refusal or a failure that
   * the server remembers of an earlier ask is asked for afresh.
   */
  async #reply(ref: ProcessRef, ask: Ask): Promise<Reply> {
    const digest = digestOf(ref, [ask.by.commandId, ask.inputs]);
    for (const id of [digest, `${digest}.${ask.token}`]) {
      const update = { name: ASK, arg: ask, idOf: () => id, timeoutMs: ASK_TIMEOUT_MS };
      try {
        const { reply, token } = await this.#workflows.update<AskResult>(ref, update);
        if (!('refused' in reply) || token === ask.token) return reply;
      } catch (error) {
        const failure = updateFailureOf(error);
        if (failure.kind !== 'threw') throw error;
        if (failure.token === null || failure.token === ask.token) throw failure.cause;
      }
    }
    throw new Error('the answer to an ask under an id of its own belongs to another ask');
  }

  async #updated<Result>(ref: ProcessRef, update: Update): Promise<Result> {
    try {
      return await this.#workflows.update<Result>(ref, update);
    } catch (error) {
      const failure = updateFailureOf(error);
      throw failure.kind === 'threw' ? failure.cause : error;
    }
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

  #token(): string {
    return Buffer.from(this.#deps.random.bytes(12)).toString('base64url');
  }
}

const digestOf = ({ process, id, stream }: ProcessRef, of: readonly Json[]): string =>
  sha256Base64url(jcs([process, id, stream, ...of]));
