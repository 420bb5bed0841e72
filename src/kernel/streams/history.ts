import { type Json, objectOrEmpty } from '../base/json.js';
import { PAGE_BYTES, PAUSE_BYTES } from '../base/page-size.js';
import type { EventMeta, EventStore, ReadRange, RecordedEvent } from '../../ports/event-store.js';
import { yieldToEventLoop } from '../concurrency/yield-to-event-loop.js';
import { streamEnd } from './stream-end.js';
import { pagesOf } from './stream-pages.js';
import { defined } from '../base/defined.js';
import { type HistoryFilter, type HistoryTimes, isFiltered, passes, revisionsWithin } from './history-filter.js';

/** How many pages one answer reads if not all events are requested: 20,000 events, or about 40 MB of large ones. */
const HISTORY_SCAN_PAGES = 40;

export type HistoryQuery = {
  readonly from?: number;
  readonly limit: number;
  readonly direction: 'forwards' | 'backwards';
  /** Only these events; all if absent. */
  readonly filter?: HistoryFilter;
  /** Only events in this range. */
  readonly times?: HistoryTimes;
};

/** An event in a history. */
export type HistoryEvent = {
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  readonly at: string;
  readonly actor: string;
  readonly commandId: string;
  readonly causationId: string | null;
  readonly correlationId: string;
  readonly schemaVersion: number;
  readonly turnId?: Json;
  readonly data: Json;
  readonly hash: string;
  readonly prevHash: string;
};

/** An event as a history shows it. Whoever can write to the store can store any JSON, and a history is read all the same. */
export const toHistoryEvent = ({ revision, id, type, data, meta }: RecordedEvent): HistoryEvent => {
  const { at, actor, commandId, causationId, correlationId, schemaVersion, hash, prevHash } = objectOrEmpty(
    meta,
  ) as EventMeta;
  return {
    ...{ revision, id, type, at, actor, commandId, causationId, correlationId, schemaVersion },
    ...defined({ turnId: objectOrEmpty(data)['turnId'] }),
    ...{ data, hash, prevHash },
  };
};

/**
 * `next` is the revision to continue from, absent at the end. `revision` is the stream's last; -1 if the stream does not exist. Each event is a
 * HistoryEvent as JSON: its text is needed to count its size, and becomes part of the answer.
 */
export type HistoryPage = {
  readonly revision: number;
  readonly next?: number;
  readonly events: readonly string[];
};

/** The range to read of a stream between two revisions, both included; null if it is empty. */
const rangeWithin = (
  { direction, from }: Pick<HistoryQuery, 'direction' | 'from'>,
  first: number,
  last: number,
): Omit<ReadRange, 'limit'> | null => {
  if (direction === 'forwards') {
    const begin = Math.max(from ?? 0, first);
    return begin > last ? null : { direction, from: begin, ...(last === Infinity ? {} : { to: last }) };
  }
  const begin = Math.min(from ?? Infinity, last);
  return begin < first ? null : { direction, ...(begin === Infinity ? {} : { from: begin }), to: first };
};

/**
 * One page of a stream's history. It ends at `limit` events or near PAGE_BYTES. With a filter, only events that pass it count. One response examines
 * at most HISTORY_SCAN_PAGES, so it may hold fewer than `limit` events and still have a `next`. Other work runs after each portion.
 * @param isBroken marks the events that are not what was recorded
 */
export const readHistory = async (
  store: Pick<EventStore, 'read'>,
  stream: string,
  query: HistoryQuery,
  isBroken: (event: RecordedEvent) => Promise<boolean> = () => Promise.resolve(false),
): Promise<HistoryPage> => {
  const { direction, limit, filter = {}, times } = query;
  const { first, last: until } = await revisionsWithin(store, stream, times ?? {});
  const range = rangeWithin(query, first, until);
  if (range === null) return { revision: (await streamEnd(store, stream)).revision, events: [] };
  const isWhole = !isFiltered(filter);
  const events: string[] = [];
  let bytes = 0;
  let pausedAt = 0;
  let scanned = 0;
  let last = -1;
  let reached: number | undefined;
  /** @returns whether the answer is full */
  const take = async (page: readonly RecordedEvent[]): Promise<boolean> => {
    for (const event of page) {
      if (bytes - pausedAt >= PAUSE_BYTES) {
        await yieldToEventLoop();
        pausedAt = bytes;
      }
      reached = event.revision;
      if (!isWhole && !passes(filter, event)) continue;
      const broken = (await isBroken(event)) ? { broken: true } : {};
      const text = JSON.stringify({ ...toHistoryEvent(event), ...broken });
      events.push(text);
      bytes += Buffer.byteLength(text);
      if (events.length === limit || bytes >= PAGE_BYTES) return true;
    }
    scanned += 1;
    return scanned === HISTORY_SCAN_PAGES;
  };
  for await (const page of pagesOf(store, stream, range, isWhole ? limit : Infinity)) {
    last = page.lastRevision;
    if (await take(page.events)) break;
  }
  const next = reached === undefined ? -1 : reached + (direction === 'forwards' ? 1 : -1);
  return { revision: last, ...(next < first || next > Math.min(last, until) ? {} : { next }), events };
};

/** How many characters one chunk has. */
const CHUNK_CHARS = 64 * 1024;

/**
 * A stream's history as text, event by event, in chunks, so that memory use does not grow with the stream. It ends where the stream ended when its
 * last page was read.
 * @param textOf the text of one event, with its line break
 * @throws what the event store throws
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
