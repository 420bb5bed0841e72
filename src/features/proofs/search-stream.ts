import type { EventStore, RecordedEvent } from '../../ports/event-store.js';

/**
 * The first revision of a stream whose event satisfies a predicate, which must hold for every event after it. One more than `last` if it holds for
 * none up to `last`. A binary search that reads one event per step. Propagates errors from the event store.
 */
export const firstRevision = async (
  events: Pick<EventStore, 'read'>,
  stream: string,
  last: number,
  holds: (event: RecordedEvent) => boolean,
): Promise<number> => {
  let [from, to] = [0, last + 1];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    const { events: found } = await events.read(stream, { direction: 'forwards', from: middle, limit: 1 });
    const [event] = found;
    if (event !== undefined && holds(event)) to = middle;
    else from = middle + 1;
  }
  return from;
};
