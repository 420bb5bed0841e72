import type { EventStore } from '../../ports/event-store.js';
import { defined } from '../../domain/shared/defined.js';
import { type HistoryFilter, type HistoryTimes, passes, revisionsWithin } from './history-filter.js';
import { type HistoryEvent, toHistoryEvent } from './history.js';
import { pagesOf } from './stream-pages.js';

/** How many characters are given out at once. */
const CHUNK_CHARS = 64 * 1024;

/**
 * A stream's history as text, event by event, in chunks: what is in memory does not grow with the stream. It ends where the stream ended when its last
 * page was read. Raises what the event store raises.
 * @param textOf the text of one event, with its line break
 */
export async function* exportHistory(
  events: Pick<EventStore, 'read'>,
  stream: string,
  { filter, times }: { readonly filter: HistoryFilter; readonly times: HistoryTimes },
  textOf: (event: HistoryEvent) => string,
): AsyncGenerator<string, void, undefined> {
  const { first, last } = await revisionsWithin(events, stream, times);
  if (first > last) return;
  const range = {
    direction: 'forwards',
    from: first,
    ...defined({ to: last === Infinity ? undefined : last }),
  } as const;
  let chunk = '';
  for await (const page of pagesOf(events, stream, range)) {
    for (const recorded of page.events) {
      if (!passes(filter, recorded)) continue;
      chunk += textOf(toHistoryEvent(recorded));
      if (chunk.length < CHUNK_CHARS) continue;
      yield chunk;
      chunk = '';
    }
  }
  yield chunk;
}
