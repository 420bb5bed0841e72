import type { Json } from '../base/json.js';
import { rowKey } from './row-key.js';
import type { Sliced } from '../base/sliced.js';
import { wordsInSlices } from '../base/words.js';
import type { RecordedEvent } from '../../ports/event-store.js';
import type { Count, Passage, Projection, RowIndex } from '../../ports/read-models.js';
import type { Changes, IndexedPassage, IndexedText, ReadModelWriter } from '../../ports/read-model-writer.js';
import { inSlices, type SlicePace } from '../concurrency/in-slices.js';
import { type Feed, type Portion, shrink } from './feed.js';

/** Yields to other work after the words of this many UTF-16 units of text have been extracted: 5 to 15 ms of work if each must be folded. */
const WORDS_PACE_UNITS = 4_096;
/** How much of a poison event's error is kept. */
const REASON_CHARACTERS = 500;

export type Parked = Changes['parked'][number];
type Row = {
  readonly stream: string;
  readonly id: string;
  stored: boolean;
  changed: boolean;
  row: Json | null;
  index: RowIndex | null;
  text: string | null;
  group: string | null;
  passages: readonly Passage[];
  /** How many of the passages are stored already. These are the first ones, because a row keeps what it had. */
  storedPassages: number;
  /** The text and the other passages, with their words. */
  indexed: { text: IndexedText | null; readonly passages: IndexedPassage[] };
};
type Stream = { from: number; to: number; parked: boolean };

/** Unwritten changes of events to a build: the rows and streams that they touched. */
export type Gathered = {
  readonly rows: Map<string, Row>;
  readonly streams: Map<string, Stream>;
  /** What is added to each count, by partition, place and name. */
  readonly counts: Map<string, Count & { count: number }>;
  readonly parked: Parked[];
  /** How many bytes of JSON the rows had that were already stored. */
  bytes: number;
  /** The length of the words of texts and passages, in UTF-16 units. */
  units: number;
  position: number;
};

/** Nothing gathered yet. */
export const nothingGathered = (): Gathered => ({
  rows: new Map(),
  streams: new Map(),
  counts: new Map(),
  parked: [],
  bytes: 0,
  units: 0,
  position: 0,
});

const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));

/**
 * An event with the rows that it touches, or the error if the projection could not name them. `keys` is how many rows must be loaded for it and the
 * preceding events.
 */
type Touch = {
  readonly event: RecordedEvent;
  readonly stream: Stream;
  readonly touched: readonly Row[] | Error;
  readonly keys: number;
};

/** An event arrived before its predecessor in the stream was applied. */
export class FeedGap extends Error {
  constructor({ stream, revision }: RecordedEvent, lacking: number) {
    super(`The feed of ${stream} lacks revision ${lacking}: it went on with ${revision}.`);
  }
}

/** Adds an entry that does not exist yet, and returns it. */
const added = <Value>(fresh: Map<string, Value>, name: string, value: Value): Value => {
  fresh.set(name, value);
  return value;
};

const nothingIndexed = (): Row['indexed'] => ({ text: null, passages: [] });

const newRow = (stream: string, id: string): Row => ({
  stream,
  id,
  stored: false,
  changed: false,
  row: null,
  index: null,
  text: null,
  group: null,
  passages: [],
  storedPassages: 0,
  indexed: nothingIndexed(),
});
const newStream = (): Stream => ({ from: -1, to: -1, parked: false });

type Evolved = Pick<Row, 'row' | 'index' | 'text' | 'group' | 'passages' | 'storedPassages'>;

const noRow: Evolved = { row: null, index: null, text: null, group: null, passages: [], storedPassages: 0 };

/** The row after an event. @throws what the projection throws */
const evolved = (projection: Projection, before: Row, event: RecordedEvent): Evolved => {
  const row = projection.evolve(before.row, event, before.id);
  if (row === null) return noRow;
  const storedPassages =
    before.changed || before.row === null ? before.storedPassages : (projection.passagesOf?.(before.row).length ?? 0);
  return {
    row,
    index: projection.indexOf(row),
    text: projection.textOf?.(row) ?? null,
    group: projection.textGroupOf?.(row) ?? null,
    passages: projection.passagesOf?.(row) ?? [],
    storedPassages,
  };
};

const change = (row: Row, to: Evolved): void => {
  row.changed = true;
  row.row = to.row;
  row.index = to.index;
  row.text = to.text;
  row.group = to.group;
  row.passages = to.passages;
  row.storedPassages = to.storedPassages;
  if (to.row === null) row.indexed = nothingIndexed();
};

/** Whether a row has texts whose words were not extracted yet. */
const lacksWords = ({ changed, text, passages, storedPassages, indexed }: Row): boolean =>
  changed && (text !== (indexed.text?.text ?? null) || passages.length > storedPassages + indexed.passages.length);

/**
 * Extracts the words of the rows that lack them, in slices, because each may have to be folded.
 * @returns their length in UTF-16 units, each text with the space that ends it
 */
function* findWords(rows: readonly Row[]): Sliced<number> {
  let units = 0;
  for (const { text, passages, storedPassages, indexed } of rows.filter(lacksWords)) {
    if (text !== (indexed.text?.text ?? null)) {
      indexed.text = text === null ? null : { text, words: (yield* wordsInSlices(text)).join(' ') };
      if (indexed.text !== null) units += indexed.text.words.length + 1;
    }
    // Pushed, not copied: a row has the passages of many events before it is written.
    for (const passage of passages.slice(storedPassages + indexed.passages.length)) {
      const words = (yield* wordsInSlices(passage.text)).join(' ');
      indexed.passages.push({ ...passage, words });
      units += words.length + 1;
    }
  }
  return units;
}

const add = (counts: Gathered['counts'], count: Count): void => {
  const key = JSON.stringify([count.partition, count.place, count.name]);
  const known = counts.get(key) ?? added(counts, key, { ...count, count: 0 });
  known.count += 1;
};

/** Folds one event. An event at or below its stream's progress changes nothing. */
const fold = (
  { projection, handles }: Feed,
  { event, stream, touched }: Touch,
  { counts, parked }: Pick<Gathered, 'counts' | 'parked'>,
  at: string,
): void => {
  if (stream.parked || event.revision <= stream.to) return;
  if (event.revision > stream.to + 1) {
    throw new FeedGap(event, stream.to + 1);
  }
  try {
    if (touched instanceof Error) throw touched;
    const counted = handles(event.type) ? (projection.countsOf?.(event) ?? []) : [];
    if (touched.length > 0) {
      // If one of the rows cannot change, none of them does.
      const rows = touched.map((row) => evolved(projection, row, event));
      for (let at = 0; at < rows.length; at += 1) change(touched[at] as Row, rows[at] as Evolved);
    }
    for (const count of counted) add(counts, count);
    stream.to = event.revision;
  } catch (error) {
    stream.parked = true;
    const { id: eventId, type, revision } = event;
    const reason = asError(error).message.slice(0, REASON_CHARACTERS);
    parked.push({ stream: event.stream, revision, eventId, type, reason, at });
  }
};

/**
 * Loads rows and streams into what is gathered, the rows in the order of their keys: as many as `bytes` allow, but at least `atLeast`.
 * @returns how many rows were loaded
 * @throws what the writer throws; the next transaction is then smaller
 */
const loadOnto = async (
  gathered: Gathered,
  writer: ReadModelWriter,
  feed: Feed,
  { rows, streams }: Pick<Gathered, 'rows' | 'streams'>,
  atLeast: number,
  bytes: number,
): Promise<number> => {
  if (rows.size === 0 && streams.size === 0) return 0;
  const keys = [...rows.keys()];
  const load = async (...asked: Parameters<ReadModelWriter['load']>): Promise<number> => {
    const loaded = await writer.load(...asked);
    gathered.bytes += loaded.bytes;
    for (const [key, row] of loaded.rows) Object.assign(rows.get(key) ?? {}, { stored: true, row });
    for (const [name, { revision, parked }] of loaded.streams) {
      Object.assign(streams.get(name) ?? {}, { from: revision, to: revision, parked });
    }
    return loaded.keys;
  };
  let count: number;
  try {
    count = await load(feed.build, keys, [...streams.keys()], bytes);
    if (count < atLeast) count += await load(feed.build, keys.slice(count, atLeast), []);
  } catch (error) {
    shrink(feed);
    throw error;
  }
  for (const [key, row] of [...rows].slice(0, count)) gathered.rows.set(key, row);
  for (const [name, stream] of streams) gathered.streams.set(name, stream);
  return count;
};

/**
 * Folds events into what is gathered, up to the event that reaches the bounds of a portion. The first event is always folded, with all its rows. Only
 * the rows keep anything of the events. An event that the projection cannot apply is parked, and later events of its stream are not applied.
 * @param events a few megabytes at most, as the event store and the feed deliver them
 * @param at the current time (RFC 3339)
 * @returns how many events were folded
 * @throws what the writer throws; FeedGap if an event is missing before one of these: the feed is broken, and continuing would hide that. What is
 *   gathered must then be discarded.
 */
export const gatherEvents = async (
  writer: ReadModelWriter,
  feed: Feed,
  gathered: Gathered,
  events: readonly RecordedEvent[],
  at: string,
  limit: Portion = feed.next.portion,
): Promise<number> => {
  const { projection, handles } = feed;
  const rows = new Map<string, Row>();
  const streams = new Map<string, Stream>();
  const rowOf = (stream: string, id: string): Row => {
    const key = rowKey(stream, id);
    return gathered.rows.get(key) ?? rows.get(key) ?? added(rows, key, newRow(stream, id));
  };
  const streamOf = (name: string): Stream =>
    gathered.streams.get(name) ?? streams.get(name) ?? added(streams, name, newStream());
  const touchedBy = (event: RecordedEvent): Touch['touched'] => {
    try {
      return handles(event.type) ? projection.idsOf(event).map((id) => rowOf(event.stream, id)) : [];
    } catch (error) {
      return asError(error);
    }
  };
  const touches: Touch[] = [];
  for (const event of events) {
    if (touches.length > 0 && gathered.rows.size + rows.size >= limit.rows) break;
    touches.push({ event, stream: streamOf(event.stream), touched: touchedBy(event), keys: rows.size });
  }
  const bytes = Math.max(1, limit.bytes - gathered.bytes);
  const loaded = await loadOnto(gathered, writer, feed, { rows, streams }, touches[0]?.keys ?? 0, bytes);
  const end = touches.findIndex(({ keys }) => keys > loaded);
  const taken = end < 0 ? touches : touches.slice(0, end);
  const hasWords = projection.textOf !== undefined || projection.passagesOf !== undefined;
  const pace: SlicePace = { every: WORDS_PACE_UNITS, unpaused: 0 };
  let folded = 0;
  for (const touch of taken) {
    if (folded > 0 && (gathered.units >= limit.units || gathered.counts.size >= limit.rows)) break;
    fold(feed, touch, gathered, at);
    const { touched } = touch;
    if (hasWords && !(touched instanceof Error) && touched.some(lacksWords))
      gathered.units += await inSlices(findWords(touched), pace);
    folded += 1;
  }
  gathered.position = Math.max(gathered.position, taken[folded - 1]?.event.position ?? 0);
  return folded;
};
