import type { Json } from '../kernel/base/json.js';
import type { RecordedEvent } from './event-store.js';

/**
 * The position of a row in lists: `partition` groups (a tenant, a mind), `order` sorts within it, `tag` filters; `''` for a row that no list finds by
 * a tag, which costs less.
 */
export type RowIndex = { readonly partition: string; readonly order: string; readonly tag: string };

/** A text of a row that search finds (`TextSearch`). It never changes. */
export type Passage = {
  /** Its unique position among all passages of all streams: an integer below 2^53. Later ones are higher. */
  readonly place: number;
  /** The scope of a search: a tenant. */
  readonly partition: string;
  /** RFC 3339. */
  readonly at: string;
  /** What filters select by. */
  readonly tags: readonly string[];
  readonly text: string;
};

/**
 * Something that happened once, counted under a `name` at a `place` of a partition. Each is at most 1,000 bytes and has no NUL. Counts of all streams
 * are added up.
 */
export type Count = { readonly partition: string; readonly place: string; readonly name: string };

/**
 * A read model as a value: how rows are made from events. Pure; a new `version` is built alongside the old one and swapped in.
 *
 * An event makes, changes and removes rows of its own stream, as many as its data names, and readers see all of these changes or none. An event
 * touches only the rows that it names: an event about every row of a stream (a clear) makes one row, and readers use it to bound their queries
 * (`OrderRange`).
 */
export interface Projection<Row extends Json = Json> {
  readonly name: string;
  readonly version: number;
  /** The event types that it handles. */
  readonly handles: readonly string[] | 'all';
  /**
   * The ids, within the event's stream, of the rows that it makes, changes or removes, each once. '' is the id of a stream's only row. Empty if the
   * event does not concern this model. `rowKey` (src/kernel/read-models/row-key.ts) makes their keys.
   */
  idsOf(event: RecordedEvent): readonly string[];
  /** The new value of one of these rows; null removes it. It is called once for each row. */
  evolve(row: Row | null, event: RecordedEvent, id: string): Row | null;
  indexOf(row: Row): RowIndex;
  /** The text that a row is found by (`RowSearch`), null if it has none. Only projections whose rows have texts define it. */
  textOf?(row: Row): string | null;
  /**
   * The group of a row's text, to which a search by words may keep (`WordQuery.groups`); null for none. It changes only together with the text. Only
   * projections with `textOf` define it.
   */
  textGroupOf?(row: Row): string | null;
  /**
   * The passages of a row that search finds. Only projections whose rows have passages define it: such a row is never removed, and keeps its
   * passages.
   */
  passagesOf?(row: Row): readonly Passage[];
  /** What an event adds to the counts (`ReadModels.counts`). Only projections that count define it. */
  countsOf?(event: RecordedEvent): readonly Count[];
}

/** A range of positions in lists, above one (exclusive) and up to another (inclusive). A missing end is open. */
export type OrderRange = { readonly above?: string; readonly upTo?: string };

export type ListQuery = {
  readonly partition: string;
  /** Only rows with one of these tags, none of which is `''`. */
  readonly tags?: readonly string[];
  readonly direction: 'ascending' | 'descending';
  /** Only rows strictly beyond this `order`, in reading direction. */
  readonly beyond?: string;
  /** Only rows whose `order` is in this range. It leaves out rows at the other end, e.g. everything before a clear. */
  readonly within?: OrderRange;
  readonly limit: number;
  /** The page ends with the row with which it reaches this many bytes of JSON; PAGE_BYTES (src/kernel/base/page-size.ts) if absent. */
  readonly bytes?: number;
};

/** At least one row if there are any. `more`: there are matching rows beyond the last of these. */
export type ListPage = {
  readonly rows: readonly { readonly key: string; readonly order: string; readonly row: Json }[];
  readonly more: boolean;
};

/** Counts of a partition from one place (inclusive) to another (exclusive), after a count that was read before. */
export type CountQuery = {
  readonly partition: string;
  readonly from: string;
  readonly to: string;
  readonly after?: Pick<Count, 'place' | 'name'>;
  readonly limit: number;
};

/** How often something was counted. */
export type CountedPlace = Pick<Count, 'place' | 'name'> & { readonly count: number };

/** The default for how long a read waits for its read model (ANIMA_READ_WAIT_MS), in milliseconds. */
export const READ_WAIT_MS = 2_000;

/**
 * The rows that projections make. Rows and progress are written in one transaction; progress is the last applied revision per source stream, so a
 * redelivered event changes nothing. They survive a killed process. After a lost flush they are behind and catch up.
 */
export interface ReadModels {
  get(projection: Projection, key: string): Promise<Json | null>;
  /** The rows of these keys, for a handful of them; keys without a row are left out. */
  getAll(projection: Projection, keys: readonly string[]): Promise<ReadonlyMap<string, Json>>;
  list(projection: Projection, query: ListQuery): Promise<ListPage>;
  /** The counts of a partition, by place and name in the order of code points. Fewer than `limit` only at the end. */
  counts(projection: Projection, query: CountQuery): Promise<readonly CountedPlace[]>;
  /** The last revision of `stream` that the projection has applied, -1 if none. */
  progress(projection: Projection, stream: string): Promise<number>;
  /**
   * Resolves to true when the projection has applied `stream` up to `revision`, and to false after `timeoutMs` (by default the time that reads wait).
   */
  reached(projection: Projection, stream: string, revision: number, timeoutMs?: number): Promise<boolean>;
  /**
   * Resolves to true when the projection has handled the global order up to `position`, and to false after `timeoutMs` (by default the time that
   * reads wait).
   */
  reachedPosition(projection: Projection, position: number, timeoutMs?: number): Promise<boolean>;
}
