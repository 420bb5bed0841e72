import type { Json } from '../../domain/shared/json.js';
import type { RecordedEvent } from '../../ports/event-store.js';
import type { Log } from '../../ports/log.js';
import type { Projection, RowIndex } from '../../ports/read-models.js';
import type { Build, Changes, ReadModelWriter } from '../../ports/read-model-writer.js';

/** How often a batch is folded again because another writer moved one of its streams. */
const COMMIT_ATTEMPTS = 8;
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
type Row = { stored: boolean; changed: boolean; row: Json | null; index: RowIndex | null };
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

/** An event with what it touches; `row` is null when it does not concern the projection, or what made it impossible to tell. */
type Touch = { readonly event: RecordedEvent; readonly stream: Stream; readonly row: Row | null | Error };

/** An event came whose predecessor in its stream was never applied. */
export class FeedGap extends Error {
  constructor({ stream, revision }: RecordedEvent, lacking: number) {
    super(`The feed of ${stream} lacks revision ${lacking}: it went on with ${revision}.`);
  }
}

/** Finds or makes what an entry of a map stands for. */
const entry = <Value>(known: Map<string, Value>, name: string, fresh: Map<string, Value>, make: () => Value): Value => {
  let value = known.get(name);
  if (value === undefined) {
    value = make();
    known.set(name, value);
    fresh.set(name, value);
  }
  return value;
};

const newRow = (): Row => ({ stored: false, changed: false, row: null, index: null });
const newStream = (): Stream => ({ from: -1, to: -1, parked: false });

/** Folds one event; one at or below its stream's progress changes nothing. */
const fold = ({ projection }: Feed, { event, stream, row: kept }: Touch, parked: Parked[], at: string): void => {
  if (stream.parked || event.revision <= stream.to) return;
  if (event.revision > stream.to + 1) {
    throw new FeedGap(event, stream.to + 1);
  }
  try {
    if (kept instanceof Error) throw kept;
    if (kept !== null) {
      const row = projection.evolve(kept.row, event);
      kept.index = row === null ? null : projection.indexOf(row);
      kept.row = row;
      kept.changed = true;
    }
    stream.to = event.revision;
  } catch (error) {
    stream.parked = true;
    const { id: eventId, type, revision } = event;
    const reason = asError(error).message.slice(0, REASON_CHARACTERS);
    parked.push({ stream: event.stream, revision, eventId, type, reason, at });
  }
};

/**
 * Folds events onto what is gathered, which holds on to nothing of them but what the rows took over. An event that the projection cannot take
 * is parked, and its stream stands still from there on.
 * @param at when that happens (RFC 3339)
 * @throws what the writer throws; FeedGap when an event is missing before one of these: the feed is broken, and going on would hide it.
 *   What is gathered is then of no more use.
 */
export const gatherEvents = async (
  writer: ReadModelWriter,
  feed: Feed,
  gathered: Gathered,
  events: readonly RecordedEvent[],
  at: string,
): Promise<void> => {
  const { projection, handles } = feed;
  const rows = new Map<string, Row>();
  const streams = new Map<string, Stream>();
  const rowOf = (event: RecordedEvent): Touch['row'] => {
    if (!handles(event.type)) return null;
    try {
      const key = projection.keyOf(event);
      return key === null ? null : entry(gathered.rows, key, rows, newRow);
    } catch (error) {
      return asError(error);
    }
  };
  const touches = events.map((event) => ({
    event,
    stream: entry(gathered.streams, event.stream, streams, newStream),
    row: rowOf(event),
  }));
  if (rows.size > 0 || streams.size > 0) {
    const loaded = await writer.load(feed.build, [...rows.keys()], [...streams.keys()]);
    for (const [key, row] of loaded.rows) Object.assign(rows.get(key) ?? {}, { stored: true, row });
    for (const [name, { revision, parked }] of loaded.streams) {
      Object.assign(streams.get(name) ?? {}, { from: revision, to: revision, parked });
    }
  }
  for (const touch of touches) fold(feed, touch, gathered.parked, at);
  gathered.events += events.length;
  gathered.position = Math.max(gathered.position, events.at(-1)?.position ?? 0);
};

const changesOf = ({ rows, streams, parked, position }: Gathered): Changes => {
  const put: Changes['put'][number][] = [];
  const remove: string[] = [];
  for (const [key, { stored, changed, row, index }] of rows) {
    if (row !== null && index !== null) put.push({ key, row, index });
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
  if (!(await writer.commit(feed.build, { ...changesOf(gathered), position }))) return false;
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
 * Applies a batch of events to a build in one transaction; redelivered events change nothing.
 * @returns the events that were parked
 * @throws as gatherEvents and commitGathered: then nothing of the batch was written
 */
export const applyEvents = async (
  writer: ReadModelWriter,
  feed: Feed,
  events: readonly RecordedEvent[],
  at: string,
): Promise<readonly Parked[]> => {
  for (let attempt = 0; attempt < COMMIT_ATTEMPTS; attempt += 1) {
    const gathered = nothingGathered();
    await gatherEvents(writer, feed, gathered, events, at);
    if (await commitGathered(writer, feed, gathered)) return gathered.parked;
  }
  throw new Error(`Another writer kept moving ${feed.projection.name}; the batch was not applied.`);
};
