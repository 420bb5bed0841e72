import { shardOf } from '../../../activities/nearest-deadlines.js';
import type { ProcessWithEffects } from '../../kernel/processes/process-effects.js';
import {
  UPDATE_BATCH,
  type UpdateBatch,
  type BatchReply,
  type Shard,
} from '../../../workflows/temporal/process-batch.js';
import type { StepUpdateRequest, Reply } from '../../kernel/processes/process-step.js';
import type { ProcessRepository } from '../../kernel/processes/process-repository.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { abortWith } from '../../kernel/concurrency/abort-with.js';
import type { Clock } from '../../ports/clock.js';
import type { EventStore } from '../../ports/event-store.js';
import type { Log } from '../../ports/log.js';
import type { CommandContext } from '../../kernel/base/command-context.js';
import type { StepAnswer, ProcessRuntime, ProcessInput, ProcessRef, Wait } from '../../ports/process-runtime.js';
import type { Random } from '../../ports/random.js';
import { Admission } from './admission.js';
import { replyTo } from './step-update.js';
import { threwOf } from './failures.js';
import type { TemporalAddress } from './names.js';
import { awaitOutcome } from './outcome-wait.js';
import { ProcessWorkflows } from './process-workflows.js';
import { createServerClock } from './server-clock.js';
import { ServerWatch } from './server-watch.js';
import { ShardUpdateQueue } from './shard-update-queue.js';
import { FailingShards } from './failing-shards.js';
import { OpenProcessSweep } from './sweep.js';
import { defined } from '../../kernel/base/defined.js';

/**
 * How long a batch remains with Temporal while no worker takes it, in milliseconds: longer than any caller waits, so that few of them pile up there.
 */
const BATCH_WAIT_MS = 300_000;

/** The processes that run together, and in how many workflows. */
export type ShardSettings = Pick<Shard, 'count' | 'processes'>;

export type TemporalRuntimeDeps = TemporalAddress & {
  /** How many workflows run the processes of these names together. Every other process has a separate workflow. */
  readonly shards: ShardSettings;
  readonly events: Pick<EventStore, 'openProcesses'>;
  /** Rebuilds answers too large to travel from the stream. */
  readonly repository: Pick<ProcessRepository, 'at'>;
  readonly processes: Readonly<Record<string, Pick<ProcessWithEffects, 'process'>>>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Pick<Log, 'error' | 'info' | 'warn'>;
};

/**
 * The client side of the Temporal runtime: every call is an update of a workflow, which is started with it if none runs. Updates of processes that
 * run together travel in batches. If Temporal is unavailable: Rejection ENGINE_UNAVAILABLE within 2 s. Reads never come here.
 */
export class TemporalProcessRuntime implements ProcessRuntime {
  readonly #deps: TemporalRuntimeDeps;
  readonly #workflows: ProcessWorkflows;
  readonly #watch: ServerWatch;
  /** For each shard, and the last for processes with separate workflows, so that one that is stuck does not block the others. */
  readonly #admissions: readonly Admission[];
  readonly #serverClock = createServerClock();
  readonly #stop = new AbortController();
  readonly #shards: readonly ShardUpdateQueue[];
  readonly #sweep: OpenProcessSweep;

  constructor(deps: TemporalRuntimeDeps) {
    const { clock } = deps;
    this.#deps = deps;
    this.#workflows = new ProcessWorkflows(deps, clock);
    this.#watch = new ServerWatch({ ping: () => this.#workflows.ping(), clock });
    this.#admissions = Array.from({ length: deps.shards.count + 1 }, () => new Admission(deps));
    this.#shards = Array.from({ length: deps.shards.count }, (_, index) => {
      const send = (batch: UpdateBatch) => this.#sendBatch(this.#shard(index), batch);
      return new ShardUpdateQueue({ send, clock, serverClock: this.#serverClock });
    });
    const failing = new FailingShards({ ...deps, workflows: this.#workflows });
    this.#sweep = new OpenProcessSweep({
      ...deps,
      takeUpTogether: (refs) => this.#takeUpTogether(refs),
      takeUp: (ref) => this.#workflows.start(ref),
      renewFailing: () => failing.renew(this.#shards.map((_, index) => this.#shard(index))),
    });
  }

  /** Begins to take up open processes whose workflow is lost, in the background: Temporal may be unavailable, and there may be many. */
  start(): Promise<void> {
    this.#sweep.start();
    return Promise.resolve();
  }

  async ask(ref: ProcessRef, inputs: readonly ProcessInput[], by: CommandContext): Promise<StepAnswer> {
    const index = this.#shardOf(ref);
    const shard = index === null ? undefined : this.#shards[index];
    const send = (signal: AbortSignal): Promise<Reply> =>
      shard === undefined ? this.#replyTo(ref, inputs, by, signal) : shard.ask(ref, inputs, by, signal);
    return this.#asked(ref, inputs, await this.#admissionOf(ref).admit(() => this.#watch.during(send)));
  }

  enter(ref: Pick<ProcessRef, 'process' | 'stream'>): () => void {
    return this.#admissionOf(ref).enter();
  }

  async outcome(ref: ProcessRef, by: CommandContext, wait: Wait): Promise<StepAnswer | null> {
    wait.signal?.throwIfAborted();
    // A process that runs with others has no effects.
    if (this.#shardOf(ref) !== null) return this.ask(ref, [], by);
    const deps = { workflows: this.#workflows, clock: this.#deps.clock, newId: () => this.#token() };
    const reply = await this.#watch.during(async (away) => {
      const call = new AbortController();
      const letGo = abortWith(call, wait.signal, away);
      try {
        return await awaitOutcome(deps, ref, by, { ...wait, signal: call.signal });
      } finally {
        letGo();
      }
    });
    return reply === null ? null : this.#asked(ref, [], reply);
  }

  /** Resolves if Temporal answers for this namespace; rejects if it does not within 0.6 s, or has none of this name. */
  ping(): Promise<void> {
    return this.#workflows.findNamespace();
  }

  /** Whether some worker has polled recently; rejects if Temporal does not answer within 0.6 s. */
  hasWorkers(): Promise<boolean> {
    return this.#workflows.hasWorkers();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // A batch may wait much longer than a process has to end.
    this.#stop.abort(new Rejection('NOT_READY', { retryAfter: 1 }));
    this.#workflows.stop();
    await this.#sweep.stop();
    await this.#watch[Symbol.asyncDispose]();
    await this.#workflows[Symbol.asyncDispose]();
  }

  /** @throws Rejection with which the step was refused */
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
    const { state } = await this.#deps.repository.at(process, ref, reply.revision);
    return process.answer(state, inputs.at(-1));
  }

  #replyTo(ref: ProcessRef, inputs: readonly ProcessInput[], by: CommandContext, signal: AbortSignal): Promise<Reply> {
    const ask: StepUpdateRequest = { stream: ref.stream, inputs, by, token: this.#token() };
    const { clock } = this.#deps;
    return replyTo({ workflows: this.#workflows, clock, serverClock: this.#serverClock, signal }, ref, ask);
  }

  #sendBatch(shard: Shard, batch: UpdateBatch): Promise<BatchReply> {
    const id = this.#token();
    const update = {
      name: UPDATE_BATCH,
      argOf: () => batch,
      idOf: () => id,
      timeoutMs: BATCH_WAIT_MS,
      signal: this.#stop.signal,
    };
    return this.#workflows.update<BatchReply>(shard, update).catch(threwOf);
  }

  /** Lets their shards look for open processes that they do not know. */
  async #takeUpTogether(refs: readonly ProcessRef[]): Promise<readonly ProcessRef[]> {
    const indexes = refs.map((ref) => this.#shardOf(ref));
    const found = new Set(indexes.filter((index) => index !== null));
    await Promise.all([...found].map((index) => this.#workflows.look(this.#shard(index))));
    return refs.filter((_, at) => indexes[at] === null);
  }

  #admissionOf(ref: Pick<ProcessRef, 'process' | 'stream'>): Admission {
    const index = this.#shardOf(ref);
    const admission = this.#admissions[index ?? this.#shards.length];
    if (admission === undefined) throw new Error(`there is no shard ${String(index)}`);
    return admission;
  }

  /** The number of its shard; null for a process with a separate workflow. */
  #shardOf(ref: Pick<ProcessRef, 'process' | 'stream'>): number | null {
    const { shards } = this.#deps;
    return shards.processes.includes(ref.process) ? shardOf(ref, shards.count) : null;
  }

  #shard(index: number): Shard {
    return { index, ...this.#deps.shards };
  }

  #token(): string {
    return Buffer.from(this.#deps.random.bytes(12)).toString('base64url');
  }
}
