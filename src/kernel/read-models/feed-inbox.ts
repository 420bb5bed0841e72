import type { FeedBatch } from '../../ports/event-feed.js';

/** A waiting batch, and the callback that reports to its reader whether it is handled or must be delivered again. */
export type Waiting = { readonly batch: FeedBatch; readonly done: (handled: boolean) => void };

/** The approximate size of one round: batches are not split. */
export type InboxBounds = { readonly links: number; readonly bytes: number };

/**
 * Batches of several partitions that wait to be applied together. There is at most one per partition: its reader waits for the answer, and a batch of
 * a newer reader replaces it.
 */
export class FeedInbox {
  readonly #round: InboxBounds;
  #waiting: Waiting[] = [];
  #closed = false;
  #arrived: () => void = () => undefined;
  #full: () => void = () => undefined;

  constructor(round: InboxBounds) {
    this.#round = round;
  }

  /** Resolves with the argument of `done`; false once closed. */
  put(batch: FeedBatch): Promise<boolean> {
    if (this.#closed) return Promise.resolve(false);
    this.#giveBack(batch.partition);
    return new Promise((done) => {
      this.#waiting.push({ batch, done });
      this.#arrived();
      if (this.isFull) this.#full();
    });
  }

  /** The earliest batches, up to the one that completes a round. Waits until there is one. Empty once closed. */
  async take(): Promise<readonly Waiting[]> {
    if (this.#waiting.length === 0 && !this.#closed) await new Promise<void>((resolve) => (this.#arrived = resolve));
    return this.#waiting.splice(0, this.#firstRound() ?? this.#waiting.length);
  }

  /** Whether a full round waits. */
  get isFull(): boolean {
    return this.#firstRound() !== null;
  }

  /** Calls `call` whenever a batch arrives and a full round waits. Returns a function that removes the listener. There is one listener at a time. */
  onFull(call: () => void): () => void {
    this.#full = call;
    return () => (this.#full = () => undefined);
  }

  /** Ends the inbox: no batch is handled any longer, waiting or new. */
  close(): void {
    this.#closed = true;
    for (const { done } of this.#waiting.splice(0)) done(false);
    this.#arrived();
  }

  /** Returns abandoned batches: those of readers that have lost their partition, and of an earlier reader of this one. */
  #giveBack(partition: number): void {
    const isGone = ({ batch }: Waiting): boolean => batch.partition === partition || batch.isStale();
    const gone = this.#waiting.filter(isGone);
    if (gone.length === 0) return;
    this.#waiting = this.#waiting.filter((waiting) => !gone.includes(waiting));
    for (const { done } of gone) done(false);
  }

  /** How many batches make a round; null if all of them together do not. */
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
