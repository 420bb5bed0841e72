import type { RecordedEvent } from './event-store.js';

/**
 * One message of a partition. It claims a fact about the event store, whatever else is in the log, lost from it or there twice: of the streams of
 * this partition, no event stands in the global order between `follows` and `position` (both left out), and at `position` stands `event`, or none.
 * Who has handled everything up to `follows` has handled everything up to `position` with this link; who has not, lacks something. A link whose
 * `follows` is its `position` claims nothing, and only says that there is something to be had up to there.
 */
export type FeedLink = {
  /** Over how many partitions the streams were spread when it was written (domain/shared/partition.ts). */
  readonly partitions: number;
  readonly follows: number;
  readonly position: number;
  readonly event: RecordedEvent | null;
};

export type FeedEntry = { readonly partition: number; readonly link: FeedLink };

/** One go at writing. */
export type FeedSession = AsyncDisposable & {
  /** How many partitions there are. */
  readonly partitions: number;
  /**
   * Resolves once the brokers keep every entry, each partition's in this order. After a failure some of them may be there: the session is over.
   * An event that is too large for the brokers is written as a link that claims nothing.
   */
  write(entries: readonly FeedEntry[]): Promise<void>;
};

/** The partitioned log that the relay fills. */
export interface FeedWriter {
  /** Makes the log if it is missing, and begins to write. Failures: any throw; nothing is open then. */
  open(): Promise<FeedSession>;
}

/** Links of one partition, in the order of the log; it ends near READ_BYTES (src/domain/shared/page-size.ts). */
export type FeedBatch = {
  readonly partition: number;
  readonly links: readonly FeedLink[];
  /** How many bytes of JSON the links take. */
  readonly bytes: number;
  /** Whether the partition is no longer this reader's: then nobody waits for the batch. */
  isStale(): boolean;
};

export type FeedHandlers = {
  /** The partitions that are this reader's from now on, of `count`. */
  assigned(partitions: readonly number[], count: number): void;
  /** Resolves once the batch is handled; true when it need not be delivered again. Called for several partitions at the same time, one batch each. */
  handle(batch: FeedBatch): Promise<boolean>;
};

/**
 * The log as the readers of one group share it: each partition is one reader's at a time, but for moments of change.
 *
 * Delivery: at least once, in the order of the log; again from the last batch on that need not come again. What the log has lost (its retention
 * is bounded) is not delivered: the links say so.
 */
export interface EventFeed {
  /** Reads until `signal` aborts; brokers that are away are waited for, for as long as it takes. */
  follow(handlers: FeedHandlers, signal: AbortSignal): Promise<void>;
}
