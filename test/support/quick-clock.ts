import type { Clock } from '../../src/ports/clock.js';

/** Timers of at least this many milliseconds are limits: they fire only when a test lets them. */
const LIMIT_MS = 10_000;

/** A clock for code with real sockets: pauses end immediately and are recorded, limits run out on request. */
export class QuickClock implements Clock {
  readonly pauses: number[] = [];
  readonly #limits = new Set<() => void>();
  #nowMs = 0;

  now(): Date {
    return new Date(this.#nowMs);
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  at(): () => void {
    throw new Error('no instants here');
  }

  after(ms: number, run: () => void): () => void {
    if (ms >= LIMIT_MS) {
      this.#limits.add(run);
      return () => this.#limits.delete(run);
    }
    this.pauses.push(ms);
    const timer = setImmediate(() => {
      this.#nowMs += ms;
      run();
    });
    return () => clearImmediate(timer);
  }

  /** Lets time pass without a timer. */
  pass(ms: number): void {
    this.#nowMs += ms;
  }

  /** Every limit that is set runs out. */
  runOut(): void {
    for (const run of [...this.#limits]) run();
  }
}
