import type { RecordedEvent } from '../../src/ports/event-store.js';
import { allEvents } from './all-events.js';
import { MemoryEventStore } from './memory/event-store.js';

/**
 * A copy of a store after someone with access to it, but without the secret, changed one stream.
 * @param change given the stream as it was, returns the events that take its place, each at the place of an event that was there before
 */
export const changedStore = async (
  events: MemoryEventStore,
  stream: string,
  change: (all: readonly RecordedEvent[]) => readonly RecordedEvent[],
): Promise<MemoryEventStore> => {
  const all: RecordedEvent[] = [];
  for await (const event of allEvents(events)) all.push(event);
  const changed = change(all.filter((event) => event.stream === stream));
  const copy = new MemoryEventStore();
  for (const event of all) {
    const now = event.stream === stream ? changed[event.revision] : event;
    if (now === undefined) continue;
    await copy.append(event.stream, event.revision === 0 ? 'no_stream' : event.revision - 1, [now]);
  }
  return copy;
};
