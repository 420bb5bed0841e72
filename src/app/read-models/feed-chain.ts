import { partitionOf } from '../../domain/shared/partition.js';
import type { FeedEntry } from '../../ports/event-feed.js';
import type { RecordedEvent } from '../../ports/event-store.js';

/** Makes the links of one session of the relay. */
export type FeedChain = {
  /** What a session begins with: everything up to its start is somewhere before, if the log has lost nothing. */
  begin(): readonly FeedEntry[];
  /** The next events of the global order, none left out, and for each partition the word that it is complete up to the last of them. */
  next(events: readonly RecordedEvent[]): readonly FeedEntry[];
};

/** A chain that begins behind the position `after`. Links are to be written in the order in which they were made, or not at all. */
export const createChain = (after: number, partitions: number): FeedChain => {
  const reached = Array.from({ length: partitions }, () => after);
  return {
    begin: () =>
      reached.map((_, partition) => ({
        partition,
        link: { partitions, follows: after, position: after, event: null },
      })),
    next: (events) => {
      const entries: FeedEntry[] = [];
      const link = (partition: number, position: number, event: RecordedEvent | null): void => {
        entries.push({ partition, link: { partitions, follows: reached[partition] ?? after, position, event } });
        reached[partition] = position;
      };
      for (const event of events) link(partitionOf(event.stream, partitions), event.position, event);
      const end = events.at(-1)?.position ?? after;
      for (const [partition, position] of reached.entries()) if (position < end) link(partition, end, null);
      return entries;
    },
  };
};
