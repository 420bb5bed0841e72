import { Rejection } from '../base/rejection.js';

/** How many calls may hold or await one key, unless a mutex is made for more. */
export const QUEUE_LIMIT = 64;

/** Runs the calls for one key one at a time, in the order in which they came. Calls for different keys do not wait for each other. */
export class KeyedMutex {
  readonly #limit: number;
  readonly #queues = new Map<string, { last: Promise<unknown>; length: number }>();

  /** @param limit how many calls may hold or await one key */
  constructor(limit: number = QUEUE_LIMIT) {
    this.#limit = limit;
  }

  /** Whether a call for this key runs or waits. */
  isLocked(key: string): boolean {
    return this.#queues.has(key);
  }

  /**
   * Runs `work` once no earlier call for the key runs; synchronously if there is none. A failed call does not block the next.
   * @throws Rejection BUSY if the key is at the limit, and what `work` throws
   */
  async runExclusive<T>(key: string, work: () => Promise<T>): Promise<T> {
    const queue = this.#queues.get(key) ?? { last: Promise.resolve(), length: 0 };
    if (queue.length >= this.#limit) throw new Rejection('BUSY', { retryAfter: 1 });
    this.#queues.set(key, queue);
    queue.length += 1;
    const { last } = queue;
    const isFree = queue.length === 1;
    let release = (): void => undefined;
    // Before the work begins: it may request the same key.
    queue.last = new Promise<void>((resolve) => (release = resolve));
    try {
      if (!isFree) await last;
      return await work();
    } finally {
      release();
      queue.length -= 1;
      if (queue.length === 0) this.#queues.delete(key);
    }
  }
}
