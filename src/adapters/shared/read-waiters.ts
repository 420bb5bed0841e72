import type { Clock } from '../../ports/clock.js';

/** The maximum number of waiting readers. A further one is immediately answered that its target is not reached. */
const MAX_WAITERS = 10_000;

export type WaitState = 'reached' | 'never' | 'not yet';

type Waiter = {
  readonly projection: string;
  /** Null: waits for a global position. */
  readonly stream: string | null;
  readonly check: () => WaitState;
  readonly end: (reached: boolean) => void;
};

/** Readers that wait for read models, each bounded by its own timeout. */
export class ReadWaiters {
  readonly #clock: Clock;
  readonly #waiters = new Set<Waiter>();
  readonly #listeners = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get any(): boolean {
    return this.#waiters.size > 0;
  }

  /** Calls `listener` whenever a reader begins to wait; returns a function that removes it. */
  onBegin(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** True when `check` returns so within `timeoutMs`, false if it does not or never will. */
  async wait(projection: string, stream: string | null, check: () => WaitState, timeoutMs: number): Promise<boolean> {
    const now = check();
    if (now !== 'not yet') return now === 'reached';
    if (timeoutMs <= 0 || this.#waiters.size >= MAX_WAITERS) return false;
    return new Promise<boolean>((resolve) => {
      const waiter: Waiter = {
        projection,
        stream,
        check,
        end: (reached) => {
          cancel();
          this.#waiters.delete(waiter);
          resolve(reached);
        },
      };
      const cancel = this.#clock.after(timeoutMs, () => waiter.end(false));
      this.#waiters.add(waiter);
      for (const listener of this.#listeners) listener();
    });
  }

  /** Checks the readers that wait for this projection again. `streams` names the streams that moved, if not all may have moved. */
  changed(projection: string, streams?: ReadonlySet<string>): void {
    for (const waiter of this.#waiters) {
      if (waiter.projection !== projection) continue;
      if (waiter.stream !== null && streams !== undefined && !streams.has(waiter.stream)) continue;
      const verdict = waiter.check();
      if (verdict !== 'not yet') waiter.end(verdict === 'reached');
    }
  }
}
