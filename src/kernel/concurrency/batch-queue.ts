import { Rejection } from '../base/rejection.js';

export type BatchLimits = {
  /** The maximum number of waiting items, and their total weight. */
  readonly queued: number;
  readonly queuedWeight?: number;
  /** The maximum number of items in one batch, and the weight beyond which it accepts no more; it always accepts one. */
  readonly batched: number;
  readonly batchedWeight?: number;
};

type Queued<Item, Result> = {
  readonly item: Item;
  readonly weight: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: unknown) => void;
};

/** Gathers the items of one turn of the event loop and handles them together, in the order in which they came. */
export class BatchQueue<Item, Result> {
  readonly #limits: Required<BatchLimits>;
  readonly #handle: (items: readonly Item[]) => readonly Result[];
  readonly #queue: Queued<Item, Result>[] = [];
  #weight = 0;
  #isScheduled = false;

  /** @param handle returns one result for each item; if it throws, every item of the batch is rejected with that error */
  constructor(limits: BatchLimits, handle: (items: readonly Item[]) => readonly Result[]) {
    this.#limits = { queuedWeight: Infinity, batchedWeight: Infinity, ...limits };
    this.#handle = handle;
  }

  /** @throws Rejection BUSY if too much waits, and what handling the batch throws */
  async add(item: Item, weight = 0): Promise<Result> {
    if (this.#queue.length >= this.#limits.queued || this.#weight + weight > this.#limits.queuedWeight)
      throw new Rejection('BUSY', { retryAfter: 1 });
    return new Promise((resolve, reject) => {
      this.#queue.push({ item, weight, resolve, reject });
      this.#weight += weight;
      this.#schedule();
    });
  }

  /** Handles everything that waits, before this returns. */
  flush(): void {
    while (this.#queue.length > 0) this.#handleBatch();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#handleBatch();
      if (this.#queue.length > 0) this.#schedule();
    });
  }

  #handleBatch(): void {
    const batch = this.#take();
    if (batch.length === 0) return;
    try {
      const results = this.#handle(batch.map(({ item }) => item));
      for (const [at, { resolve }] of batch.entries()) resolve(results[at] as Result);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  #take(): readonly Queued<Item, Result>[] {
    let count = 0;
    let taken = 0;
    for (const { weight } of this.#queue) {
      if (count >= this.#limits.batched || (count > 0 && taken + weight > this.#limits.batchedWeight)) break;
      count += 1;
      taken += weight;
    }
    this.#weight -= taken;
    return this.#queue.splice(0, count);
  }
}
