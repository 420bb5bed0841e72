import { advance, type Advanced, processNamed } from '../../../activities/advance.js';
import { expire, type ProcessActivityDeps, runEffect } from '../../../activities/process-activities.js';
import { deadlineOf, pendingEffect, statusOf } from '../../kernel/processes/state-machine.js';
import { OUTCOME_WAITERS, retryDelayMs } from '../../kernel/processes/process-limits.js';
import { isFinal, type ProcessStatus } from '../../kernel/processes/process-step.js';
import { pause } from '../../kernel/concurrency/pause.js';
import { systemContext } from '../../kernel/streams/command-id.js';
import { Rejection } from '../../kernel/base/rejection.js';
import type { Log } from '../../ports/log.js';
import type { CommandContext } from '../../kernel/base/command-context.js';
import { OUTCOME_WAIT_MS, type ProcessInput, type ProcessRef, type Wait } from '../../ports/process-runtime.js';

type RunningEffect = { readonly id: string; readonly abort: AbortController };

export type ActorDeps = ProcessActivityDeps & { readonly logger: Pick<Log, 'error' | 'warn'> };

/**
 * Drives one open process: a timer for its deadline or for the next retry, and its effect. Both follow from the state after the last step; everything
 * else is in the stream.
 */
export class ProcessActor {
  readonly ref: ProcessRef;
  readonly #deps: ActorDeps;
  readonly #onIdle: () => void;
  /** The work in progress that may set the timer or the effect. */
  readonly #work = new Set<Promise<unknown>>();
  /** Whether it was folded since the start. */
  #known = false;
  #due: string | null = null;
  #cancelTimer: (() => void) | null = null;
  /** How often in a row a deadline or its own look was fruitless: it failed, or the state machine did not change the deadline. */
  #failures = 0;
  #effect: RunningEffect | null = null;
  #outcomeWaiters = 0;
  readonly #onEffectEnd = new Set<() => void>();
  #stopped = false;

  /** @param onIdle called whenever it has nothing left to wait for */
  constructor(deps: ActorDeps, ref: ProcessRef, onIdle: () => void) {
    this.#deps = deps;
    this.ref = ref;
    this.#onIdle = onIdle;
  }

  /** @throws as `advance`; Rejection NOT_READY once it was stopped */
  step(inputs: readonly ProcessInput[], by: CommandContext): Promise<Advanced> {
    return this.#step(
      () => advance(this.#deps, this.ref, inputs, by),
      () => {
        // It may have recorded something before it failed. A deadline or an effect of that must not wait for the next request.
        this.#known = false;
        if (!this.#stopped) void this.look();
      },
    );
  }

  /** The answer of the process once it waits for no effect; null after the timeout. @throws as in the port */
  async outcome(by: CommandContext, { withinMs, signal }: Wait): Promise<Advanced | null> {
    if (this.#outcomeWaiters >= OUTCOME_WAITERS) throw new Rejection('BUSY', { retryAfter: 1 });
    this.#outcomeWaiters += 1;
    const { clock } = this.#deps;
    const untilMs = clock.monotonicMs() + Math.min(withinMs, OUTCOME_WAIT_MS);
    try {
      return await this.#tracked(async () => {
        for (;;) {
          signal?.throwIfAborted();
          const advanced = await this.step([], by);
          if (pendingEffect(this.#process(), advanced.state) === null) return advanced;
          const leftMs = untilMs - clock.monotonicMs();
          if (leftMs <= 0) return null;
          await this.#effectEnds(leftMs, signal);
        }
      });
    } finally {
      this.#outcomeWaiters -= 1;
    }
  }

  /** Finds out what the process waits for, without a step; retried until it succeeds. */
  look(): Promise<void> {
    return this.#own(async () => {
      const { state } = await this.#deps.repository.load(this.#process(), this.ref);
      // A step that succeeded meanwhile is more recent.
      if (!this.#known) this.#settle(statusOf(this.#process(), state));
    });
  }

  /** Sets the timer from an index; the first step corrects it. */
  arm(due: string | null): void {
    this.#due = due;
    this.#setTimer(due === null ? null : this.#deps.clock.at(new Date(due), () => this.#onDue()));
  }

  /** Ends its timer and its effect, and waits for the steps in progress. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#setTimer(null);
    this.#follow(null);
    await Promise.allSettled(this.#work);
  }

  async #step(take: () => Promise<Advanced>, onFailed: () => void = () => undefined): Promise<Advanced> {
    if (this.#stopped) throw new Rejection('NOT_READY', { retryAfter: 1 });
    return this.#tracked(async () => {
      try {
        const advanced = await take();
        this.#settle(statusOf(this.#process(), advanced.state));
        return advanced;
      } catch (error) {
        onFailed();
        throw error;
      }
    });
  }

  async #tracked<T>(work: () => Promise<T>): Promise<T> {
    const working = work();
    this.#work.add(working);
    try {
      return await working;
    } finally {
      this.#work.delete(working);
      if (this.#work.size === 0 && this.#cancelTimer === null && this.#effect === null) this.#onIdle();
    }
  }

  /** Resolves when the state stops waiting for an effect, after that time, or when the signal aborts. */
  async #effectEnds(ms: number, signal?: AbortSignal): Promise<void> {
    if (this.#effect === null) return;
    await pause(this.#deps.clock, ms, signal, (wake) => {
      this.#onEffectEnd.add(wake);
      return () => this.#onEffectEnd.delete(wake);
    });
  }

  #settle({ due, effect }: ProcessStatus): void {
    if (this.#stopped) return;
    this.#known = true;
    if (due !== this.#due) this.arm(due);
    this.#follow(effect?.id ?? null);
  }

  #onDue(): void {
    this.#cancelTimer = null;
    void this.#own(async () => {
      const { state } = await this.#step(() => expire(this.#deps, this.ref, this.#system()));
      if (this.#stopped) return;
      const due = deadlineOf(this.#process(), state)?.at ?? null;
      // A deadline that the state machine did not change would be due again immediately.
      if (due !== null && Date.parse(due) <= this.#deps.clock.now().getTime()) {
        this.#tryAgain();
        return;
      }
      this.#failures = 0;
      // The timer has run out, whatever the present state.
      this.arm(due);
    });
  }

  /** Tries the deadline again after a pause that grows. */
  #tryAgain(): void {
    this.#failures += 1;
    this.#setTimer(this.#deps.clock.after(retryDelayMs(this.#failures), () => this.#onDue()));
  }

  /** The actor's own step: after a failure it is retried later from the fold, and the record decides what is still to be done. */
  #own(step: () => Promise<unknown>): Promise<void> {
    return this.#tracked(async () => {
      try {
        await step();
      } catch (error) {
        if (this.#stopped) return;
        this.#log(error);
        this.#tryAgain();
      }
    });
  }

  #setTimer(cancel: (() => void) | null): void {
    this.#cancelTimer?.();
    this.#cancelTimer = cancel;
  }

  #follow(effectId: string | null): void {
    if (this.#effect?.id === effectId || (this.#effect === null && effectId === null)) return;
    this.#effect?.abort.abort();
    this.#effect = effectId === null ? null : { id: effectId, abort: new AbortController() };
    if (this.#effect !== null) void this.#run(this.#effect);
    else for (const wake of this.#onEffectEnd) wake();
  }

  /** Runs the effect and records its input, repeatedly until the state no longer waits for it, which aborts it. */
  async #run({ id, abort: { signal } }: RunningEffect): Promise<void> {
    const isOver = (): boolean => signal.aborted;
    let input: ProcessInput | null = null;
    for (let tries = 1; !isOver(); tries += 1) {
      try {
        input ??= await runEffect(this.#deps, this.ref, id, signal);
        await this.step(input === null ? [] : [input], this.#system());
        input = null;
      } catch (error) {
        if (isOver()) return;
        this.#log(error);
        // The result is kept while it cannot be recorded: the effect may have been expensive. After a refusal it is produced again.
        if (error instanceof Rejection && isFinal(error)) input = null;
      }
      await pause(this.#deps.clock, retryDelayMs(tries), signal);
    }
  }

  #log(error: unknown): void {
    const { process, id, stream } = this.ref;
    const message = 'Process step failed; retrying';
    // A dependency is unavailable, which has its own log line; this is not a defect, so no stack.
    if (error instanceof Rejection && error.retryAfter !== undefined) {
      const cause = error.cause instanceof Error ? { cause: error.cause.message } : {};
      this.#deps.logger.warn({ code: error.code, ...cause, process, id, stream }, message);
    } else this.#deps.logger.error({ err: error, process, id, stream }, message);
  }

  #process() {
    return processNamed(this.#deps.processes, this.ref.process).process;
  }

  #system(): CommandContext {
    return systemContext(this.#deps, this.ref.stream);
  }
}
