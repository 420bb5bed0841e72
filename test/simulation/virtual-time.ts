import type { Draw } from './draw.js';

/** The moment at which every simulation begins. */
export const EPOCH_MS = Date.parse('2026-01-01T00:00:00.000Z');

type Due = { readonly atMs: number; readonly order: number; run: (() => void) | null };

/**
 * The source of everything that happens. It runs whatever is due next; things due at the same moment run in a drawn order. Everything that follows without
 * waiting has run before the next one. Nothing waits in real time.
 */
export class VirtualTime {
  readonly #draw: Draw;
  readonly #heap: Due[] = [];
  #nowMs = 0;

  constructor(draw: Draw) {
    this.#draw = draw;
  }

  /** Milliseconds since the beginning. */
  get nowMs(): number {
    return this.#nowMs;
  }

  /** Runs something `ms` from now. Returns a function that cancels it. */
  after(ms: number, run: () => void): () => void {
    const due: Due = { atMs: this.#nowMs + Math.max(0, ms), order: this.#draw.next(), run };
    this.#push(due);
    return () => {
      due.run = null;
    };
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  /** From now on code that yields to the event loop yields to this. Returns a function that ends this. */
  takeOverYields(): () => void {
    const original = globalThis.setImmediate;
    const yielded = (run: () => void) => this.after(0, run);
    globalThis.setImmediate = yielded as unknown as typeof setImmediate;
    return () => {
      globalThis.setImmediate = original;
    };
  }

  /** Lets time pass until `done`, or until `untilMs`; false when `untilMs` came first. */
  async run(done: () => boolean, untilMs: number): Promise<boolean> {
    await settled();
    while (!done()) {
      const next = this.#pop();
      if (next === undefined || next.atMs > untilMs) {
        if (next !== undefined) this.#push(next);
        this.#nowMs = Math.max(this.#nowMs, untilMs);
        return done();
      }
      if (next.run === null) continue;
      this.#nowMs = next.atMs;
      next.run();
      await settled();
    }
    return true;
  }

  #push(due: Due): void {
    const heap = this.#heap;
    let at = heap.push(due) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || isBefore(above, due)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = due;
  }

  #pop(): Due | undefined {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (last === undefined || last === first) return first;
    let at = 0;
    for (;;) {
      const left = heap[2 * at + 1];
      const right = heap[2 * at + 2];
      const child = right !== undefined && left !== undefined && isBefore(right, left) ? right : left;
      if (child === undefined || isBefore(last, child)) break;
      heap[at] = child;
      at = child === left ? 2 * at + 1 : 2 * at + 2;
    }
    heap[at] = last;
    return first;
  }
}

const isBefore = (left: Due, right: Due): boolean =>
  left.atMs < right.atMs || (left.atMs === right.atMs && left.order < right.order);

/** The event loop's own, even while yields are intercepted. */
const { setImmediate: nextTurn } = globalThis;

/** Resolves when everything has run that follows without waiting: all promises, and the output of a Node stream. */
const settled = (): Promise<void> => new Promise((resolve) => nextTurn(resolve));
