import { partitionOf } from '../base/partition.js';
import type { FeedEntry } from '../../ports/event-feed.js';
import type { RecordedEvent } from '../../ports/event-store.js';

/** Makes the links of one session of the relay. */
export type FeedChain = {
  /** The first links of a session. If the log has lost nothing, everything up to the session's start comes before them. */
  begin(): readonly FeedEntry[];
  /**
   * The links for the next events of the global order, with none left out. Each partition without an event at the end also gets a link that it is
   * complete up to there, unless `more` links follow immediately, which include this.
   */
  next(events: readonly RecordedEvent[], more?: boolean): readonly FeedEntry[];
};

/** A chain that begins after the position `after`. Its links must be written in the order in which they were made, or not at all. */
export const createChain = (after: number, partitions: number): FeedChain => {
  const reached = Array.from({ length: partitions }, () => after);
  return {
    begin: () =>
      reached.map((_, partition) => ({
        partition,
        link: { partitions, follows: after, position: after, event: null },
      })),
    next: (events, more = false) => {
      const entries: FeedEntry[] = [];
      const link = (partition: number, position: number, event: RecordedEvent | null): void => {
        entries.push({ partition, link: { partitions, follows: reached[partition] ?? after, position, event } });
        reached[partition] = position;
      };
      for (const event of events) link(partitionOf(event.stream, partitions), event.position, event);
      if (more) return entries;
      const end = events.at(-1)?.position ?? after;
      for (const [partition, position] of reached.entries()) if (position < end) link(partition, end, null);
      return entries;
    },
  };
};
