import type { Json } from '../domain/shared/json.js';
import type { RecordedEvent } from './event-store.js';

/** Where a row stands in lists: `partition` groups (a tenant, a mind), `order` sorts within it, `tag` filters. */
export type RowIndex = { readonly partition: string; readonly order: string; readonly tag: string };

/**
 * A read model as a value: how rows are made from events. Pure; a new `version` is built beside the old one and swapped in.
 *
 * An event makes, changes and removes rows of its own stream, as many as its data names, and readers see all of that or nothing. What concerns
 * every row of a stream (a clear) is a row of its own that readers bound their queries by (`OrderRange`): no event touches rows that it does not name.
 */
export interface Projection<Row extends Json = Json> {
  readonly name: string;
  readonly version: number;
  /** The event types that it looks at. */
  readonly handles: readonly string[] | 'all';
  /**
   * The rows that an event makes, changes or removes, by their ids within its stream, each once; '' is the id of a stream's only row. None when the event does not
   * concern this model. Their keys are made by `rowKey` (src/domain/shared/row-key.ts).
   */
  idsOf(event: RecordedEvent): readonly string[];
  /** What becomes of one of these rows; null removes it. Of an event with many rows it is called for each. */
  evolve(row: Row | null, event: RecordedEvent, id: string): Row | null;
  indexOf(row: Row): RowIndex;
  /** The text that a row is found by (`RowSearch`), null when it has none; only of projections whose rows have texts. */
  textOf?(row: Row): string | null;
}

/** Places in lists, above one and up to another, which is included; an end that is left out is open. */
export type OrderRange = { readonly above?: string; readonly upTo?: string };

export type ListQuery = {
  readonly partition: string;
  /** Only rows with one of these tags. */
  readonly tags?: readonly string[];
  readonly direction: 'ascending' | 'descending';
  /** Only rows strictly beyond this `order`, in reading direction. */
  readonly beyond?: string;
  /** Only rows whose `order` is in here: what a reader has to leave out at the other end, e.g. everything before a clear. */
  readonly within?: OrderRange;
  readonly limit: number;
  /** The page ends with the row that brings it to so many bytes of JSON; PAGE_BYTES (src/domain/shared/page-size.ts) when absent. */
  readonly bytes?: number;
};

/** At least one row where there are any; `more`: rows that match stand beyond the last of these. */
export type ListPage = {
  readonly rows: readonly { readonly key: string; readonly order: string; readonly row: Json }[];
  readonly more: boolean;
};

/**
 * The rows that projections make. Rows and progress are written in one transaction; progress is the last applied revision per source stream,
 * so that a redelivered event changes nothing. Durable against a killed process; after a lost flush they are simply behind and catch up.
 */
export interface ReadModels {
  get(projection: Projection, key: string): Promise<Json | null>;
  /** The rows of these keys, for a handful of them; keys without a row are left out. */
  getAll(projection: Projection, keys: readonly string[]): Promise<ReadonlyMap<string, Json>>;
  list(projection: Projection, query: ListQuery): Promise<ListPage>;
  /** The last revision of `stream` that the projection has applied, -1 when none. */
  progress(projection: Projection, stream: string): Promise<number>;
  /** Resolves true when the projection has applied `stream` up to `revision`, false when `timeoutMs` passed first. */
  reached(projection: Projection, stream: string, revision: number, timeoutMs: number): Promise<boolean>;
  /** Resolves true when the projection has handled the global order up to `position`, false when `timeoutMs` passed first. */
  reachedPosition(projection: Projection, position: number, timeoutMs: number): Promise<boolean>;
}
