import type { EventStore, RecordedEvent } from '../../src/ports/event-store.js';

const PAGE = 4_096;

/** Every event of a store in its global order, a page at a time. */
export async function* allEvents(events: Pick<EventStore, 'readAll'>): AsyncGenerator<RecordedEvent, void, undefined> {
  for (let after = 0; ;) {
    const page = await events.readAll(after, PAGE);
    yield* page;
    if (page.length < PAGE) return;
    after = page.at(-1)?.position ?? after;
  }
}
