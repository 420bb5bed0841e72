import type { EventStore, ReadRange, RecordedEvent, StreamPage } from '../../ports/event-store.js';
import { yieldToEventLoop } from '../concurrency/yield-to-event-loop.js';
import { defined } from '../base/defined.js';

/** How many events a page requests; it ends earlier if they are large. Folding a page takes a few milliseconds. */
export const PAGE_EVENTS = 500;

/**
 * Reads a range of a stream page by page, and yields to other work between two pages, so that a long stream does not block the rest. The first page
 * is yielded even if it is empty, because it carries the last revision. Ends where the stream ended when the last page was read.
 * @param most the maximum number of events to read
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

/** The event at a revision of a stream; undefined beyond its end. @throws what the event store throws */
export const eventAt = async (
  events: Pick<EventStore, 'read'>,
  stream: string,
  revision: number,
): Promise<RecordedEvent | undefined> =>
  (await events.read(stream, { direction: 'forwards', from: revision, limit: 1 })).events[0];
