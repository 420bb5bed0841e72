import type { Json } from '../domain/shared/json.js';
import type { EventStore, RecordedEvent } from '../ports/event-store.js';

/** How many events one page of reading holds, and how many are looked at for one answer when a type is asked for. */
const HISTORY_PAGE = 512;
export const HISTORY_SCAN_EVENTS = 20_000;

export type HistoryQuery = {
  readonly from?: number;
  readonly limit: number;
  readonly direction: 'forwards' | 'backwards';
  readonly types?: ReadonlySet<string>;
};

/** An event as the history shows it (contract 10.1). */
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

export const toHistoryEvent = ({ revision, id, type, data, meta }: RecordedEvent): HistoryEvent => ({
  revision,
  id,
  type,
  at: meta.at,
  actor: meta.actor,
  commandId: meta.commandId,
  causationId: meta.causationId,
  correlationId: meta.correlationId,
  schemaVersion: meta.schemaVersion,
  ...(data['turnId'] === undefined ? {} : { turnId: data['turnId'] }),
  data,
  hash: meta.hash,
  prevHash: meta.prevHash,
});

/** `next` is the revision to go on from, absent at the end; `revision` the stream's last, -1 when there is no such stream. */
export type HistoryPage = {
  readonly revision: number;
  readonly next?: number;
  readonly events: readonly HistoryEvent[];
};

/**
 * One page of a stream's history. With `types`, `limit` counts what is left of them; one answer looks at HISTORY_SCAN_EVENTS at most, and then
 * may hold fewer than `limit` beside a `next`.
 */
export const readHistory = async (store: EventStore, stream: string, query: HistoryQuery): Promise<HistoryPage> => {
  const found: RecordedEvent[] = [];
  const step = query.direction === 'forwards' ? 1 : -1;
  let from = query.from;
  let last = -1;
  for (let scanned = 0; scanned < HISTORY_SCAN_EVENTS;) {
    const limit = query.types === undefined ? query.limit - found.length : HISTORY_PAGE;
    const page = await store.read(stream, {
      direction: query.direction,
      limit,
      ...(from === undefined ? {} : { from }),
    });
    last = page.lastRevision;
    for (const event of page.events) {
      if (query.types !== undefined && !query.types.has(event.type)) continue;
      found.push(event);
      if (found.length === query.limit) break;
    }
    scanned += page.events.length;
    const reached = found.length === query.limit ? found.at(-1) : page.events.at(-1);
    from = reached === undefined ? undefined : reached.revision + step;
    if (from === undefined || from < 0 || from > last) return { revision: last, events: found.map(toHistoryEvent) };
    if (found.length === query.limit) break;
  }
  return { revision: last, ...(from === undefined ? {} : { next: from }), events: found.map(toHistoryEvent) };
};
