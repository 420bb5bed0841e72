import type { Advanced } from '../../../activities/advance.js';
import type { ProcessActivityDeps } from '../../../activities/process-activities.js';
import { Rejection } from '../../kernel/base/rejection.js';
import type { EventStore } from '../../ports/event-store.js';
import type { Log } from '../../ports/log.js';
import type { CommandContext } from '../../kernel/base/command-context.js';
import {
  type StepAnswer,
  type ProcessRuntime,
  type ProcessInput,
  processKey,
  type ProcessRef,
  type Wait,
} from '../../ports/process-runtime.js';
import { ProcessActor } from './process-actor.js';

export type EmbeddedRuntimeDeps = ProcessActivityDeps & {
  readonly events: Pick<EventStore, 'openProcesses'>;
  readonly logger: Pick<Log, 'error' | 'warn'>;
};

/** The embedded runtime: one actor for each open process, in this server process. All of its state comes from the streams. */
export class EmbeddedProcessRuntime implements ProcessRuntime {
  readonly #deps: EmbeddedRuntimeDeps;
  readonly #actors = new Map<string, ProcessActor>();
  #looking: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(deps: EmbeddedRuntimeDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    const unknown: ProcessActor[] = [];
    for (const { name, id, stream, due } of await this.#deps.events.openProcesses()) {
      const actor = this.#actor({ process: name, id, stream });
      actor.arm(due);
      if (due === null || this.#hasEffects(name)) unknown.push(actor);
    }
    this.#looking = this.#lookAt(unknown);
  }

  /** The runtime is this very process: a request never waits for another one. */
  enter(): () => void {
    return () => undefined;
  }

  async ask(ref: ProcessRef, inputs: readonly ProcessInput[], by: CommandContext): Promise<StepAnswer> {
    return askedOf(await this.#actor(ref).step(inputs, by));
  }

  async outcome(ref: ProcessRef, by: CommandContext, wait: Wait): Promise<StepAnswer | null> {
    const advanced = await this.#actor(ref).outcome(by, wait);
    return advanced === null ? null : askedOf(advanced);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true;
    await Promise.all([this.#looking, ...Array.from(this.#actors.values(), (actor) => actor.stop())]);
    this.#actors.clear();
  }

  /** Only folding shows which effects they wait for. One at a time, since there may be many. */
  async #lookAt(actors: readonly ProcessActor[]): Promise<void> {
    for (const actor of actors) {
      if (this.#stopped) return;
      // One that had a request meanwhile is up to date, and may have made room for another.
      if (this.#actors.get(processKey(actor.ref)) === actor) await actor.look();
    }
  }

  /** Whether a process of this name may wait for an effect, which marks do not show; also true for one that this server does not know. */
  #hasEffects(name: string): boolean {
    const known = this.#deps.processes[name];
    return known === undefined || known.process.pending !== undefined;
  }

  /** @throws Rejection NOT_READY once it was disposed of */
  #actor(ref: ProcessRef): ProcessActor {
    if (this.#stopped) throw new Rejection('NOT_READY', { retryAfter: 1 });
    const key = processKey(ref);
    const known = this.#actors.get(key);
    if (known !== undefined) return known;
    const actor: ProcessActor = new ProcessActor(this.#deps, ref, () => {
      if (this.#actors.get(key) === actor) this.#actors.delete(key);
    });
    this.#actors.set(key, actor);
    return actor;
  }
}

const askedOf = ({ answer, revision, position }: Advanced): StepAnswer => ({ answer, revision, position });
