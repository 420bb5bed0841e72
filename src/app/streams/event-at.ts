import type { EventStore, RecordedEvent } from '../../ports/event-store.js';

/** The event at a revision of a stream; undefined beyond its end. Raises what the event store raises. */
export const eventAt = async (
  events: Pick<EventStore, 'read'>,
  stream: string,
  revision: number,
): Promise<RecordedEvent | undefined> =>
  (await events.read(stream, { direction: 'forwards', from: revision, limit: 1 })).events[0];
