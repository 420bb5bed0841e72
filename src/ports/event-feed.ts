import type { RecordedEvent } from './event-store.js';

/**
 * One message of a partition. It states a fact about the event store, whatever else the log holds, has lost or holds twice. In the streams of this
 * partition, the global order has no event between `follows` and `position` (both exclusive), and `event`, or none, at `position`. A reader that has
 * handled everything up to `follows` has handled everything up to `position` with this link. Any other reader lacks something. A link whose `follows`
 * is its `position` states nothing, except that there is something to read up to there.
 */
export type FeedLink = {
  /** The number of partitions when it was written (kernel/base/partition.ts). */
  readonly partitions: number;
  readonly follows: number;
  readonly position: number;
  readonly event: RecordedEvent | null;
};

export type FeedEntry = { readonly partition: number; readonly link: FeedLink };

/** A session of writing. It ends at the first failure. */
export type FeedSession = AsyncDisposable & {
  /** The number of partitions. */
  readonly partitions: number;
  /**
   * Resolves once the brokers have stored every entry, in this order within each partition. After a failure some of them may be stored, and the
   * session is over. An event that is too large for the brokers is written as a link that states nothing.
   */
  write(entries: readonly FeedEntry[]): Promise<void>;
};

/** The partitioned log into which the relay writes. */
export interface FeedWriter {
  /** Creates the log if it is missing, and begins to write. If it throws, nothing is open. */
  open(): Promise<FeedSession>;
}

/** Links of one partition, in the order of the log; it ends near READ_BYTES (src/kernel/base/page-size.ts). */
export type FeedBatch = {
  readonly partition: number;
  readonly links: readonly FeedLink[];
  /** The size of the links, in bytes of JSON. */
  readonly bytes: number;
  /** Whether the partition now belongs to another reader; the batch is then not needed. */
  isStale(): boolean;
};

export type FeedHandlers = {
  /** Called with the partitions, of `count`, that belong to this reader from now on. */
  assigned(partitions: readonly number[], count: number): void;
  /**
   * Resolves once the batch is handled: true if it need not be delivered again. Several partitions may be handled at the same time, one batch each.
   */
  handle(batch: FeedBatch): Promise<boolean>;
};

/**
 * The log as the readers of one group share it. Each partition belongs to one reader at a time, except briefly during a change.
 *
 * Delivery: at least once, in the order of the log. A repeat begins after the last batch that need not be delivered again. What the log has lost (its
 * retention is bounded) is not delivered; the links show the gap.
 */
export interface EventFeed {
  /** Reads until `signal` aborts. While the brokers are down it waits indefinitely. */
  follow(handlers: FeedHandlers, signal: AbortSignal): Promise<void>;
}
