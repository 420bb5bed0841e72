import { Rejection } from '../../domain/shared/rejection.js';

/** How many may wait for one thing. */
export const WAITING = 64;

/** Runs the tasks for the same key one after the other, in the order in which they came. */
export class Lines {
  readonly #lines = new Map<string, { tail: Promise<unknown>; waiting: number }>();

  /** @throws Rejection BUSY when WAITING wait already, and what `work` throws. */
  async inTurn<T>(name: string, work: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(name) ?? { tail: Promise.resolve(), waiting: 0 };
    if (line.waiting >= WAITING) throw new Rejection('BUSY', { retryAfter: 1 });
    line.waiting += 1;
    this.#lines.set(name, line);
    const mine = line.waiting === 1 ? work() : line.tail.then(work);
    line.tail = mine.catch(() => undefined);
    try {
      return await mine;
    } finally {
      line.waiting -= 1;
      if (line.waiting === 0) this.#lines.delete(name);
    }
  }
}
