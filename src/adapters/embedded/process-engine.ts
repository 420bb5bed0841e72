import { advance, type AdvanceDeps, type Advanced, hosted } from '../../../activities/advance.js';
import { type Effect, statusOf } from '../../../workflows/process.js';
import { askedBySystem } from '../../app/streams/command-id.js';
import { Rejection } from '../../domain/shared/rejection.js';
import type { Clock } from '../../ports/clock.js';
import type { EventStore } from '../../ports/event-store.js';
import type { Asked, AskedBy, ProcessEngine, ProcessInput, ProcessRef } from '../../ports/process-engine.js';
import type { Log } from '../../ports/log.js';
import type { Random } from '../../ports/random.js';

/** How long until a failed timer or effect is tried again, in milliseconds. Doubles with each failure, up to the last value. */
const RETRY_MS = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000] as const;

/** What runs for one open process: a timer for its deadline, at most one far effect. */
type Actor = {
  readonly ref: ProcessRef;
  waiting: number;
  due: string | null;
  cancelTimer: (() => void) | null;
  effect: { readonly id: string; readonly abort: AbortController } | null;
  failures: number;
};

export type EmbeddedEngineDeps = AdvanceDeps & {
  readonly events: EventStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Pick<Log, 'error'>;
};

/** The embedded shell: one actor for each open process, in this server process. Everything it knows comes from the streams. */
export class EmbeddedProcessEngine implements ProcessEngine {
  readonly #deps: EmbeddedEngineDeps;
  readonly #actors = new Map<string, Actor>();
  readonly #running = new Set<Promise<unknown>>();
  #stopped = false;

  constructor(deps: EmbeddedEngineDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    for (const { name, id, stream, due } of await this.#deps.events.openProcesses()) {
      const actor = this.#actor({ process: name, id, stream });
      if (due !== null) this.#arm(actor, due);
      // Without a deadline, only folding tells what the process waits for.
      else
        await this.#ask(actor, [], askedBySystem(this.#deps, stream)).catch((error: unknown) =>
          this.#failed(actor, error),
        );
    }
  }

  async ask(ref: ProcessRef, inputs: readonly ProcessInput[], by: AskedBy): Promise<Asked> {
    return this.#ask(this.#actor(ref), inputs, by);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true;
    for (const actor of this.#actors.values()) {
      actor.cancelTimer?.();
      actor.effect?.abort.abort();
    }
    await Promise.allSettled(this.#running);
    this.#actors.clear();
  }

  async #ask(actor: Actor, inputs: readonly ProcessInput[], by: AskedBy): Promise<Advanced> {
    if (this.#stopped) throw new Rejection('NOT_READY', { retryAfter: 1 });
    actor.waiting += 1;
    const step = advance(this.#deps, actor.ref, inputs, by);
    this.#running.add(step);
    try {
      const advanced = await step;
      this.#settle(actor, advanced.state);
      return advanced;
    } finally {
      this.#running.delete(step);
      actor.waiting -= 1;
      if (actor.waiting === 0 && actor.cancelTimer === null && actor.effect === null) this.#actors.delete(actor.ref.id);
    }
  }

  #actor(ref: ProcessRef): Actor {
    let actor = this.#actors.get(ref.id);
    if (actor === undefined) {
      actor = { ref, waiting: 0, due: null, cancelTimer: null, effect: null, failures: 0 };
      this.#actors.set(ref.id, actor);
    }
    return actor;
  }

  /** The timer and the effect follow from the state alone. */
  #settle(actor: Actor, state: Advanced['state']): void {
    if (this.#stopped) return;
    actor.failures = 0;
    const { process } = hosted(this.#deps.processes, actor.ref.process);
    const { deadline, effect } = statusOf(process, state);
    const due = deadline?.at ?? null;
    if (due !== actor.due) this.#arm(actor, due);
    this.#run(actor, effect === null || effect.near ? null : effect);
  }

  #arm(actor: Actor, due: string | null): void {
    actor.cancelTimer?.();
    actor.due = due;
    actor.cancelTimer = due === null ? null : this.#deps.clock.at(new Date(due), () => this.#onDue(actor));
  }

  #onDue(actor: Actor): void {
    actor.cancelTimer = null;
    actor.due = null;
    void this.#expire(actor).catch((error: unknown) => this.#failed(actor, error));
  }

  async #expire(actor: Actor): Promise<void> {
    const by = askedBySystem(this.#deps, actor.ref.stream);
    // Folded first: after a restart the due time came from the index alone, and the deadline may have moved since.
    const { state } = await this.#ask(actor, [], by);
    const { process } = hosted(this.#deps.processes, actor.ref.process);
    const { deadline } = statusOf(process, state);
    if (deadline !== null && Date.parse(deadline.at) <= this.#deps.clock.now().getTime()) {
      await this.#ask(actor, [deadline.input], by);
    }
  }

  #run(actor: Actor, effect: Effect | null): void {
    if (actor.effect?.id === effect?.id) return;
    actor.effect?.abort.abort();
    actor.effect = null;
    if (effect === null) return;
    const abort = new AbortController();
    const running = { id: effect.id, abort };
    actor.effect = running;
    const host = hosted(this.#deps.processes, actor.ref.process);
    void host
      .effect(actor.ref, effect, abort.signal)
      .then(async (input) => {
        if (abort.signal.aborted) return;
        await this.#ask(actor, [input], askedBySystem(this.#deps, actor.ref.stream));
      })
      .catch((error: unknown) => {
        if (abort.signal.aborted) return;
        actor.effect = null;
        this.#failed(actor, error);
      });
  }

  /** Tries again later from the fold; the recorded events decide what is left to do. */
  #failed(failed: Actor, error: unknown): void {
    if (this.#stopped) return;
    const actor = this.#actor(failed.ref);
    actor.failures = Math.max(actor.failures, failed.failures);
    const wait = RETRY_MS[Math.min(actor.failures, RETRY_MS.length - 1)] ?? RETRY_MS[0];
    actor.failures += 1;
    this.#deps.logger.error(
      { err: error, process: actor.ref.process, id: actor.ref.id },
      'a process could not go on; it is tried again',
    );
    actor.cancelTimer?.();
    // Not a time: whatever the fold says next sets the timer anew.
    actor.due = 'again';
    actor.cancelTimer = this.#deps.clock.after(wait, () => this.#onDue(actor));
  }
}
