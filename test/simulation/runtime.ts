import { createHash } from 'node:crypto';

import { jcs } from '../../src/kernel/base/json.js';
import { Rejection } from '../../src/kernel/base/rejection.js';
import type { EventStore } from '../../src/ports/event-store.js';
import type { CommandContext } from '../../src/kernel/base/command-context.js';
import type { StepAnswer, ProcessRuntime, ProcessInput, ProcessRef } from '../../src/ports/process-runtime.js';
import type { Reply, ProcessStatus, StepArgs, StepResult } from '../../src/kernel/processes/process-step.js';
import type { Draw } from './draw.js';
import type { Link } from './network.js';
import { EPOCH_MS, type VirtualTime } from './virtual-time.js';

/** A server's worker, which executes steps. */
export type Worker = { step(args: StepArgs): Promise<StepResult> };

/** After how many milliseconds without an answer a step is given to another worker, and how often. */
const TASK_TIMEOUT_MS = 2_000;
const TASK_ATTEMPTS = 8;
/** How long a caller waits, in milliseconds. */
const UPDATE_TIMEOUT_MS = 8_000;
/** How soon a deadline is retried that a worker did not find due, and how often lost processes are searched for, in milliseconds. */
const RETRY_MS = 1_000;
const SWEEP_MS = 60_000;
/** How late a deadline may be before its process counts as lost, in milliseconds. */
const OVERDUE_MS = 10_000;

/** The runtime's memory of one process: its queue, its answers, and the timer of its deadline. */
type Run = {
  readonly ref: ProcessRef;
  line: Promise<unknown>;
  readonly answers: Map<string, Promise<Reply>>;
  due: string | null;
  cancelTimer: () => void;
};

/**
 * A runtime like Temporal. It handles the inputs of a process one after the other and gives each step to some worker. When that worker does not answer,
 * it gives the step to another, although the first may still be busy with it. It may lose its memory and find the open processes in the store.
 */
export class SimulatedRuntime {
  readonly #time: VirtualTime;
  readonly #draw: Draw;
  readonly #store: EventStore;
  readonly #workers: () => readonly Worker[];
  #runs = new Map<string, Run>();

  constructor(time: VirtualTime, draw: Draw, store: EventStore, workers: () => readonly Worker[]) {
    this.#time = time;
    this.#draw = draw;
    this.#store = store;
    this.#workers = workers;
    this.#sweepAgain();
  }

  /** The runtime as one server sees it. */
  port(link: Link): ProcessRuntime {
    const ask: ProcessRuntime['ask'] = async (ref, inputs, by) => {
      const answered = link.call(() => this.#ask(ref, inputs, by));
      const late = new Promise<never>((_, reject) => {
        link.machine.clock.after(UPDATE_TIMEOUT_MS, () =>
          reject(new Rejection('ENGINE_UNAVAILABLE', { retryAfter: 1 })),
        );
      });
      return askedOf(await Promise.race([answered, late]));
    };
    return {
      start: () => Promise.resolve(),
      enter: () => () => undefined,
      ask,
      // No process here has an effect.
      outcome: (ref, by) => ask(ref, [], by),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  }

  /** Loses all memory; steps in flight continue. */
  forget(): void {
    for (const run of this.#runs.values()) run.cancelTimer();
    this.#runs = new Map();
    void this.#takeUp(() => true);
  }

  async #ask(ref: ProcessRef, inputs: readonly ProcessInput[], by: CommandContext): Promise<Reply> {
    const run = this.#runOf(ref);
    const id = digestOf(inputs, by);
    const earlier = run.answers.get(id);
    if (earlier !== undefined) return earlier;
    const answer = this.#inLine(run, { ref, inputs, by }).then(({ reply }) => reply);
    run.answers.set(id, answer);
    const isKept = await answer.then(
      (reply) => !('refused' in reply),
      () => false,
    );
    // A refusal is not cached: a repeat runs again.
    if (!isKept) run.answers.delete(id);
    return answer;
  }

  #runOf(ref: ProcessRef): Run {
    const key = `${ref.stream} ${ref.id}`;
    const known = this.#runs.get(key);
    if (known !== undefined) return known;
    const run: Run = { ref, line: Promise.resolve(), answers: new Map(), due: null, cancelTimer: () => undefined };
    this.#runs.set(key, run);
    return run;
  }

  #inLine(run: Run, args: StepArgs): Promise<StepResult> {
    const step = run.line.then(() => this.#step(args));
    run.line = step.then(
      ({ standing }) => this.#note(run, standing),
      () => this.#note(run, null),
    );
    return step;
  }

  /** Gives the step to one worker after another until one answers. */
  async #step(args: StepArgs): Promise<StepResult> {
    for (let attempt = 0; attempt < TASK_ATTEMPTS; attempt += 1) {
      const [first, ...others] = this.#workers();
      if (first !== undefined) {
        const timeout = this.#time.sleep(TASK_TIMEOUT_MS).then(() => null);
        const result = await Promise.race([this.#draw.pick([first, ...others]).step(args), timeout]);
        if (result !== null) return result;
      } else await this.#time.sleep(TASK_TIMEOUT_MS);
    }
    throw new Rejection('ENGINE_UNAVAILABLE', { retryAfter: 1 });
  }

  #note(run: Run, standing: ProcessStatus | null): void {
    if (this.#runs.get(`${run.ref.stream} ${run.ref.id}`) !== run) return;
    if (standing === null) {
      this.#arm(run, RETRY_MS, []);
      return;
    }
    if (standing.due === null) {
      run.cancelTimer();
      return;
    }
    const left = Date.parse(standing.due) - EPOCH_MS - this.#time.nowMs;
    this.#arm(run, Math.max(left, standing.due === run.due && left <= 0 ? RETRY_MS : 0), 'deadline');
    run.due = standing.due;
  }

  #arm(run: Run, ms: number, inputs: StepArgs['inputs']): void {
    run.cancelTimer();
    run.cancelTimer = this.#time.after(ms, () => {
      this.#inLine(run, { ref: run.ref, inputs, by: null }).catch(() => undefined);
    });
  }

  #sweepAgain(): void {
    this.#time.after(SWEEP_MS, () => {
      const isOverdue = (due: string | null): boolean =>
        due === null || Date.parse(due) + OVERDUE_MS < EPOCH_MS + this.#time.nowMs;
      void this.#takeUp(isOverdue).then(() => this.#sweepAgain());
    });
  }

  async #takeUp(isWanted: (due: string | null) => boolean): Promise<void> {
    for (const { name, id, stream, due } of await this.#store.openProcesses()) {
      const ref = { process: name, id, stream };
      if (isWanted(due)) this.#inLine(this.#runOf(ref), { ref, inputs: [], by: null }).catch(() => undefined);
    }
  }
}

const digestOf = (inputs: readonly ProcessInput[], by: CommandContext): string =>
  createHash('sha256')
    .update(jcs([by.commandId, inputs]))
    .digest('base64url');

/** @throws Rejection that the step was refused with */
const askedOf = (reply: Reply): StepAnswer => {
  if ('refused' in reply) {
    const { code, message, details, retryAfter } = reply.refused;
    throw new Rejection(code, { message, details, ...(retryAfter === undefined ? {} : { retryAfter }) });
  }
  return { answer: reply.answer, revision: reply.revision, position: reply.position };
};
