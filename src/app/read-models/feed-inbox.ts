import type { FeedBatch } from '../../ports/event-feed.js';

/** A batch that waits, and who hears whether it need not come again. */
export type Waiting = { readonly batch: FeedBatch; readonly done: (handled: boolean) => void };

/** How much is handed over at once, more or less: batches are not cut. */
export type InboxBounds = { readonly links: number; readonly bytes: number };

/** Batches of several partitions that wait to be applied together; at most one of each partition, since its reader waits for the answer. */
export class FeedInbox {
  readonly #round: InboxBounds;
  #waiting: Waiting[] = [];
  #closed = false;
  #arrived: () => void = () => undefined;
  #full: () => void = () => undefined;

  constructor(round: InboxBounds) {
    this.#round = round;
  }

  /** Resolves with what `done` says; false once closed. */
  put(batch: FeedBatch): Promise<boolean> {
    if (this.#closed) return Promise.resolve(false);
    return new Promise((done) => {
      this.#waiting.push({ batch, done });
      this.#arrived();
      if (this.isFull) this.#full();
    });
  }

  /** The batches that came first, up to the one that makes a round of them; waits for one. None once closed. */
  async take(): Promise<readonly Waiting[]> {
    if (this.#waiting.length === 0 && !this.#closed) await new Promise<void>((resolve) => (this.#arrived = resolve));
    return this.#waiting.splice(0, this.#firstRound() ?? this.#waiting.length);
  }

  /** Whether a whole round waits. */
  get isFull(): boolean {
    return this.#firstRound() !== null;
  }

  /** Calls `call` whenever a batch comes and a whole round waits then; returns a function that ends that. One at a time may ask. */
  onFull(call: () => void): () => void {
    this.#full = call;
    return () => (this.#full = () => undefined);
  }

  /** Nothing that waits or comes is handled any more. */
  close(): void {
    this.#closed = true;
    for (const { done } of this.#waiting.splice(0)) done(false);
    this.#arrived();
  }

  /** How many of the batches make a round; null: not even all of them. */
  #firstRound(): number | null {
    let [links, bytes] = [0, 0];
    const end = this.#waiting.findIndex(({ batch }) => {
      links += batch.links.length;
      bytes += batch.bytes;
      return links >= this.#round.links || bytes >= this.#round.bytes;
    });
    return end < 0 ? null : end + 1;
  }
}
