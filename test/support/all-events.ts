import { Rejection } from '../../src/kernel/base/rejection.js';
import type { EventStore, RecordedEvent } from '../../src/ports/event-store.js';
import { askPatiently } from './ask-patiently.js';

const PAGE = 4_096;

/** The refusal of a store that is down, as an answer. @throws any other error */
const awayOr = (error: unknown): Rejection => {
  if (error instanceof Rejection && error.code === 'STORE_UNAVAILABLE') return error;
  throw error;
};

/** Every event of a store in its global order, a page at a time. */
export async function* allEvents(events: Pick<EventStore, 'readAll'>): AsyncGenerator<RecordedEvent, void, undefined> {
  for (let after = 0; ;) {
    const position = after;
    const page = await askPatiently(
      () => events.readAll(position, PAGE).catch(awayOr),
      (answer) => answer instanceof Rejection,
    );
    if (page instanceof Rejection) throw page;
    yield* page;
    if (page.length < PAGE) return;
    after = page.at(-1)?.position ?? after;
  }
}
