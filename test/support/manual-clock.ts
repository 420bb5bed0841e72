import type { Clock } from '../../src/ports/clock.js';
import { settle } from './settle.js';

/** Turns of the event loop that let the work of a timer finish. */
const TURNS = 4;

type Timer = { readonly dueMs: () => number; readonly run: () => void };

/** Clocks that stand still until a test moves them. Timers run in the order in which they fall due. */
export class ManualClock implements Clock {
  #wallMs: number;
  #monotonicMs = 0;
  #timers: Timer[] = [];

  constructor(start = '2026-01-01T00:00:00.000Z') {
    this.#wallMs = Date.parse(start);
  }

  now(): Date {
    return new Date(this.#wallMs);
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  at(at: Date, run: () => void): () => void {
    return this.#wait({ dueMs: () => this.#monotonicMs + at.getTime() - this.#wallMs, run });
  }

  after(ms: number, run: () => void): () => void {
    const dueMs = this.#monotonicMs + ms;
    return this.#wait({ dueMs: () => dueMs, run });
  }

  /** The number of waiting timers. */
  get waiting(): number {
    return this.#timers.length;
  }

  /** Sets the wall clock forwards or back; no time passes. */
  setBy(ms: number): void {
    this.#wallMs += ms;
  }

  /** Advances and runs the due timers. Lets promises settle before it returns. */
  async advance(ms: number): Promise<void> {
    const target = this.#monotonicMs + ms;
    for (;;) {
      const [due] = this.#timers
        .map((timer) => ({ timer, dueMs: timer.dueMs() }))
        .filter(({ dueMs }) => dueMs <= target)
        .sort((left, right) => left.dueMs - right.dueMs);
      if (due === undefined) break;
      this.#timers = this.#timers.filter((timer) => timer !== due.timer);
      this.#passTo(Math.max(this.#monotonicMs, due.dueMs));
      due.timer.run();
      await settle(TURNS);
    }
    this.#passTo(target);
    await settle(TURNS);
  }

  #passTo(monotonicMs: number): void {
    this.#wallMs += monotonicMs - this.#monotonicMs;
    this.#monotonicMs = monotonicMs;
  }

  #wait(timer: Timer): () => void {
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }
}
