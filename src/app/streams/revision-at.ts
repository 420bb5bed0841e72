import type { EventStore, RecordedEvent } from '../../ports/event-store.js';

/**
 * The first revision of a stream whose time is not before a moment; one beyond the last where there is none. Times never decrease within a stream,
 * so some twenty events are looked at, however long it is. Raises what the event store raises.
 * @param timeMs milliseconds since 1970
 */
export const revisionAt = async (events: Pick<EventStore, 'read'>, stream: string, timeMs: number): Promise<number> => {
  const end = await events.read(stream, { direction: 'backwards', limit: 1 });
  let [low, high] = [0, end.lastRevision + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [event] = (await events.read(stream, { direction: 'forwards', from: middle, limit: 1 })).events;
    if (event === undefined || timeOf(event) >= timeMs) high = middle;
    else low = middle + 1;
  }
  return low;
};

const timeOf = ({ meta }: RecordedEvent): number => Date.parse(meta.at);
