import type { EventStore, ReadRange, RecordedEvent, StreamPage } from '../../ports/event-store.js';
import { yieldToEventLoop } from '../concurrency/yield-to-event-loop.js';
import { defined } from '../base/defined.js';

/** How many events a page asks for; it ends earlier when they are large. Folding a page takes a few milliseconds. */
export const PAGE_EVENTS = 500;

/**
 * Reads a range of a stream page by page, and lets other work run between two pages: a long stream must not hold up the rest. The first page comes
 * even when it is empty, because it tells the last revision. Ends where the stream ended when the last page was read.
 * @param most how many events are read altogether
 * @throws what the event store throws
 */
export async function* pagesOf(
  store: Pick<EventStore, 'read'>,
  stream: string,
  range: Omit<ReadRange, 'limit'>,
  most = Infinity,
): AsyncGenerator<StreamPage, void, undefined> {
  const { direction, to } = range;
  let from = range.from;
  for (let left = most; left > 0;) {
    const limit = Math.min(PAGE_EVENTS, left);
    const page = await store.read(stream, { ...range, ...defined({ from }), limit });
    yield page;
    const last = page.events.at(-1)?.revision;
    if (last === undefined) return;
    const ended = direction === 'forwards' ? last >= Math.min(to ?? Infinity, page.lastRevision) : last <= (to ?? 0);
    if (ended) return;
    from = direction === 'forwards' ? last + 1 : last - 1;
    left -= page.events.length;
    await yieldToEventLoop();
  }
}

/** The event at a revision of a stream; undefined beyond its end. Raises what the event store raises. */
export const eventAt = async (
  events: Pick<EventStore, 'read'>,
  stream: string,
  revision: number,
): Promise<RecordedEvent | undefined> =>
  (await events.read(stream, { direction: 'forwards', from: revision, limit: 1 })).events[0];
