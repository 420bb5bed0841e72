import type { Clock } from '../../src/ports/clock.js';

/** A clock that stands until it is moved; timers run in the order in which they fall due. */
export class ManualClock implements Clock {
  #nowMs: number;
  #timers: { readonly atMs: number; readonly run: () => void }[] = [];

  constructor(start = '2026-01-01T00:00:00.000Z') {
    this.#nowMs = Date.parse(start);
  }

  now(): Date {
    return new Date(this.#nowMs);
  }

  at(at: Date, run: () => void): () => void {
    const timer = { atMs: at.getTime(), run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Moves on, and runs what fell due; lets promises settle before it returns. */
  async advance(ms: number): Promise<void> {
    const target = this.#nowMs + ms;
    for (;;) {
      const due = this.#timers.filter(({ atMs }) => atMs <= target).sort((left, right) => left.atMs - right.atMs)[0];
      if (due === undefined) break;
      this.#timers = this.#timers.filter((timer) => timer !== due);
      this.#nowMs = Math.max(this.#nowMs, due.atMs);
      due.run();
      await settle();
    }
    this.#nowMs = target;
    await settle();
  }
}

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};
