import type { Clock } from '../../ports/clock.js';
import type { FeedWriter } from '../../ports/event-feed.js';
import type { RecordedEvent } from '../../ports/event-store.js';
import type { CloudEvent, EventPublisher } from '../../ports/event-publisher.js';
import { createChain } from './feed-chain.js';
import type { RelayOutput } from './relay.js';

/**
 * The maximum time, in milliseconds, for which partitions without events get no link that they are complete while events keep coming. Lists over all
 * minds wait for every partition, and projectors gather events for as long in any case (feed-projector.ts).
 */
export const TELL_MS = 25;

/** Writes links into the log that projectors read. Links of a relay that has lost its lease are true too (ports/event-feed.ts). */
export const linksInto = (feed: FeedWriter, clock: Pick<Clock, 'monotonicMs'>): RelayOutput => ({
  open: async (after) => {
    const session = await feed.open();
    try {
      const chain = createChain(after, session.partitions);
      await session.write(chain.begin());
      let toldMs = clock.monotonicMs();
      return {
        write: async (events, more) => {
          const nowMs = clock.monotonicMs();
          const later = more && nowMs - toldMs < TELL_MS;
          if (!later) toldMs = nowMs;
          await session.write(chain.next(events, later));
        },
        [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
      };
    } catch (error) {
      await session[Symbol.asyncDispose]();
      throw error;
    }
  },
});

/**
 * Publishes the events of minds. A publisher accepts nothing from a relay once the next one writes (ports/event-publisher.ts).
 * @param toCloudEvent null for an event that is not published
 */
export const cloudEventsInto = (
  publisher: EventPublisher,
  toCloudEvent: (event: RecordedEvent) => CloudEvent | null,
): RelayOutput => ({
  open: async () => {
    const session = await publisher.open();
    return {
      write: (events) => session.write(events.flatMap((event) => toCloudEvent(event) ?? [])),
      [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
    };
  },
});
