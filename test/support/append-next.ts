import type { AppendOutcome, EventStore, EventToAppend } from '../../src/ports/event-store.js';

/** Appends to the end of the stream, for tests that do not care where that is. No other writer may append there in the meantime. */
export const appendNext = async (
  store: Pick<EventStore, 'append' | 'read'>,
  stream: string,
  events: readonly EventToAppend[],
): Promise<AppendOutcome> => {
  const { lastRevision } = await store.read(stream, { direction: 'backwards', limit: 1 });
  return store.append(stream, lastRevision < 0 ? 'no_stream' : lastRevision, events);
};
