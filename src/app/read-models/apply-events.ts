import type { Json } from '../../domain/shared/json.js';
import { rowKey } from '../../domain/shared/row-key.js';
import type { RecordedEvent } from '../../ports/event-store.js';
import type { Log } from '../../ports/log.js';
import type { Projection, RowIndex } from '../../ports/read-models.js';
import type { Build, Changes, ReadModelWriter } from '../../ports/read-model-writer.js';
import { nextTurn } from '../pacing/next-turn.js';

/** How often a batch is folded again because another writer moved one of its streams. */
const COMMIT_ATTEMPTS = 8;
/**
 * How many rows one transaction of a projector writes, more or less: the rows of one event are not parted, and it has no more of them than its
 * bytes can name (contract 1.2).
 */
export const PORTION_ROWS = 2_048;
/** How much of a poison event's error is kept. */
const REASON_CHARACTERS = 500;

/** A build that is being fed with events. */
export type Feed = { readonly projection: Projection; readonly handles: (type: string) => boolean; build: Build };

/** Makes a feed of a build. */
export const feedOf = (projection: Projection, build: Build): Feed => {
  const handled = projection.handles === 'all' ? null : new Set(projection.handles);
  return { projection, handles: (type) => handled === null || handled.has(type), build };
};

type Parked = Changes['parked'][number];
type Row = {
  readonly stream: string;
  readonly id: string;
  stored: boolean;
  changed: boolean;
  row: Json | null;
  index: RowIndex | null;
  text: string | null;
};
type Stream = { from: number; to: number; parked: boolean };

/** What events did to a build and is not written yet: the rows and streams that they touched. */
export type Gathered = {
  readonly rows: Map<string, Row>;
  readonly streams: Map<string, Stream>;
  readonly parked: Parked[];
  events: number;
  position: number;
};

/** Nothing gathered yet. */
export const nothingGathered = (): Gathered => ({
  rows: new Map(),
  streams: new Map(),
  parked: [],
  events: 0,
  position: 0,
});

const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));

/** An event with the row or rows that it touches; null when it does not concern the projection, or what made it impossible to tell. */
type Touch = {
  readonly event: RecordedEvent;
  readonly stream: Stream;
  readonly touched: Row | readonly Row[] | null | Error;
};

/** An event came whose predecessor in its stream was never applied. */
export class FeedGap extends Error {
  constructor({ stream, revision }: RecordedEvent, lacking: number) {
    super(`The feed of ${stream} lacks revision ${lacking}: it went on with ${revision}.`);
  }
}

/** Notes what nothing stood for yet. */
const added = <Value>(known: Map<string, Value>, fresh: Map<string, Value>, name: string, value: Value): Value => {
  known.set(name, value);
  fresh.set(name, value);
  return value;
};

const newRow = (stream: string, id: string): Row => ({
  stream,
  id,
  stored: false,
  changed: false,
  row: null,
  index: null,
  text: null,
});
const newStream = (): Stream => ({ from: -1, to: -1, parked: false });

/** Makes the next of a row, or leaves it as it was and throws. */
const evolveRow = (projection: Projection, kept: Row, event: RecordedEvent): void => {
  const row = projection.evolve(kept.row, event, kept.id);
  const index = row === null ? null : projection.indexOf(row);
  kept.text = row === null ? null : (projection.textOf?.(row) ?? null);
  kept.index = index;
  kept.row = row;
  kept.changed = true;
};

/** Makes the next of all rows of an event, or leaves all as they were and throws. */
const evolveRows = (projection: Projection, rows: readonly Row[], event: RecordedEvent): void => {
  const before = rows.map((kept) => ({ ...kept }));
  try {
    for (const kept of rows) evolveRow(projection, kept, event);
  } catch (error) {
    for (const [at, kept] of rows.entries()) Object.assign(kept, before[at]);
    throw error;
  }
};

const isMany = (touched: Row | readonly Row[] | null): touched is readonly Row[] => Array.isArray(touched);

/** Folds one event; one at or below its stream's progress changes nothing. */
const fold = ({ projection }: Feed, { event, stream, touched }: Touch, parked: Parked[], at: string): void => {
  if (stream.parked || event.revision <= stream.to) return;
  if (event.revision > stream.to + 1) {
    throw new FeedGap(event, stream.to + 1);
  }
  try {
    if (touched instanceof Error) throw touched;
    if (isMany(touched)) evolveRows(projection, touched, event);
    else if (touched !== null) evolveRow(projection, touched, event);
    stream.to = event.revision;
  } catch (error) {
    stream.parked = true;
    const { id: eventId, type, revision } = event;
    const reason = asError(error).message.slice(0, REASON_CHARACTERS);
    parked.push({ stream: event.stream, revision, eventId, type, reason, at });
  }
};

/**
 * Folds events onto what is gathered, which holds on to nothing of them but what the rows took over, up to the event that brings it to `limit`
 * rows; the first one in any case. An event that the projection cannot take is parked, and its stream stands still from there on.
 * @param at when that happens (RFC 3339)
 * @returns how many events were folded
 * @throws what the writer throws; FeedGap when an event is missing before one of these: the feed is broken, and going on would hide it.
 *   What is gathered is then of no more use.
 */
export const gatherEvents = async (
  writer: ReadModelWriter,
  feed: Feed,
  gathered: Gathered,
  events: readonly RecordedEvent[],
  at: string,
  limit = PORTION_ROWS,
): Promise<number> => {
  const { projection, handles } = feed;
  const rows = new Map<string, Row>();
  const streams = new Map<string, Stream>();
  const rowOf = (stream: string, id: string): Row => {
    const key = rowKey(stream, id);
    return gathered.rows.get(key) ?? added(gathered.rows, rows, key, newRow(stream, id));
  };
  const touchedBy = (event: RecordedEvent): Touch['touched'] => {
    if (!handles(event.type)) return null;
    try {
      const ids = projection.idsOf(event);
      const first = ids[0];
      if (first === undefined) return null;
      return ids.length === 1 ? rowOf(event.stream, first) : ids.map((id) => rowOf(event.stream, id));
    } catch (error) {
      return asError(error);
    }
  };
  const touches: Touch[] = [];
  for (const event of events) {
    if (touches.length > 0 && gathered.rows.size >= limit) break;
    const stream = gathered.streams.get(event.stream) ?? added(gathered.streams, streams, event.stream, newStream());
    touches.push({ event, stream, touched: touchedBy(event) });
  }
  if (rows.size > 0 || streams.size > 0) {
    const loaded = await writer.load(feed.build, [...rows.keys()], [...streams.keys()]);
    for (const [key, row] of loaded.rows) Object.assign(rows.get(key) ?? {}, { stored: true, row });
    for (const [name, { revision, parked }] of loaded.streams) {
      Object.assign(streams.get(name) ?? {}, { from: revision, to: revision, parked });
    }
  }
  for (const touch of touches) fold(feed, touch, gathered.parked, at);
  gathered.events += touches.length;
  gathered.position = Math.max(gathered.position, touches.at(-1)?.event.position ?? 0);
  return touches.length;
};

const changesOf = (projection: Projection, { rows, streams, parked, position }: Gathered): Changes => {
  const put: Changes['put'][number][] = [];
  const remove: string[] = [];
  for (const [key, { stream, text, stored, changed, row, index }] of rows) {
    if (row !== null && index !== null)
      put.push(projection.textOf === undefined ? { key, row, index } : { key, row, index, search: { stream, text } });
    else if (stored && changed) remove.push(key);
  }
  const progress: Changes['progress'][number][] = [];
  for (const [stream, { from, to }] of streams) if (to > from) progress.push({ stream, from, to });
  return { put, remove, progress, parked, position };
};

/**
 * Writes what is gathered, with the progress it makes, in one transaction.
 * @returns false when another writer moved one of the streams: nothing was written, gather again
 * @throws what the writer throws: then nothing was written either
 */
export const commitGathered = async (writer: ReadModelWriter, feed: Feed, gathered: Gathered): Promise<boolean> => {
  const position = Math.max(gathered.position, feed.build.position);
  if (!(await writer.commit(feed.build, { ...changesOf(feed.projection, gathered), position }))) return false;
  feed.build = { ...feed.build, position };
  return true;
};

/** Says of each parked event that its stream stands still. */
export const logParked = (log: Pick<Log, 'error'>, { projection }: Feed, parked: readonly Parked[]): void => {
  const { name, version } = projection;
  for (const event of parked) {
    log.error({ projection: name, version, ...event }, 'an event was parked: its stream stands still here');
  }
};

/**
 * Applies events to a build, in one transaction unless they touch too many rows for one; redelivered events change nothing.
 * @returns the events that were parked
 * @throws as gatherEvents and commitGathered: then of the last transaction nothing was written
 */
export const applyEvents = async (
  writer: ReadModelWriter,
  feed: Feed,
  events: readonly RecordedEvent[],
  at: string,
): Promise<readonly Parked[]> => {
  const parked: Parked[] = [];
  let rest = events;
  let attempt = 0;
  do {
    const gathered = nothingGathered();
    const taken = await gatherEvents(writer, feed, gathered, rest, at);
    if (await commitGathered(writer, feed, gathered)) {
      parked.push(...gathered.parked);
      rest = rest.slice(taken);
      attempt = 0;
      if (rest.length > 0) await nextTurn();
    } else if ((attempt += 1) === COMMIT_ATTEMPTS) {
      throw new Error(`Another writer kept moving ${feed.projection.name}; the events were not applied.`);
    }
  } while (rest.length > 0);
  return parked;
};
