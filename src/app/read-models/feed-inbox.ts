import type { FeedBatch } from '../../ports/event-feed.js';

/** A batch that waits, and who hears whether it need not come again. */
export type Waiting = { readonly batch: FeedBatch; readonly done: (handled: boolean) => void };

/** Batches of several partitions that wait to be applied together; at most one of each partition, since its reader waits for the answer. */
export class FeedInbox {
  #waiting: Waiting[] = [];
  #closed = false;
  #arrived: () => void = () => undefined;
  #full: { readonly links: number; readonly call: () => void } | null = null;

  /** Resolves with what `done` says; false once closed. */
  put(batch: FeedBatch): Promise<boolean> {
    if (this.#closed) return Promise.resolve(false);
    return new Promise((done) => {
      this.#waiting.push({ batch, done });
      this.#arrived();
      if (this.#full !== null && this.links >= this.#full.links) this.#full.call();
    });
  }

  /** The batches that came first, with at least `links` links if there are so many; waits for one. None once closed. */
  async take(links: number): Promise<readonly Waiting[]> {
    if (this.#waiting.length === 0 && !this.#closed) await new Promise<void>((resolve) => (this.#arrived = resolve));
    let held = 0;
    const end = this.#waiting.findIndex(({ batch }) => (held += batch.links.length) >= links);
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : end + 1);
  }

  /** How many links wait. */
  get links(): number {
    return this.#waiting.reduce((sum, { batch }) => sum + batch.links.length, 0);
  }

  /** Calls `call` whenever a batch comes and so many links wait then; returns a function that ends that. One at a time may ask. */
  onHolding(links: number, call: () => void): () => void {
    this.#full = { links, call };
    return () => (this.#full = null);
  }

  /** Nothing that waits or comes is handled any more. */
  close(): void {
    this.#closed = true;
    for (const { done } of this.#waiting.splice(0)) done(false);
    this.#arrived();
  }
}
