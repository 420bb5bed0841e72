import type { JsonObject } from '../kernel/base/json.js';

/** The part of an event that describes its process. The index of open processes is made from these marks. */
export type ProcessMark = {
  /** The name of the process's state machine, e.g. `turn`. */
  readonly name: string;
  readonly id: string;
  /** False once the process has ended. */
  readonly open: boolean;
  /** When its deadline is due (RFC 3339), if it has one. */
  readonly due: string | null;
};

/** Metadata of every event. `hash` and `prevHash` chain the events of one stream; see docs/reference/formats/hash-chain.md. */
export type EventMeta = {
  readonly tenant: string;
  /** The key id that acted, or `system`. */
  readonly actor: string;
  readonly correlationId: string;
  readonly causationId: string | null;
  readonly commandId: string;
  readonly schemaVersion: number;
  /** RFC 3339 UTC with milliseconds; never decreases within a stream. */
  readonly at: string;
  readonly prevHash: string;
  readonly hash: string;
  /** The seal: a MAC of `hash`. Absent from events that older servers wrote. The hash does not cover it. */
  readonly mac?: string;
  readonly process?: ProcessMark;
};

export type EventToAppend = {
  /** UUID in lower case. An append that repeats the same ids is answered and not written again. */
  readonly id: string;
  readonly type: string;
  readonly data: JsonObject;
  readonly meta: EventMeta;
};

export type RecordedEvent = EventToAppend & {
  readonly stream: string;
  /** The position in the stream, from 0 without gaps. */
  readonly revision: number;
  /** The position in the global order; increases, may skip. */
  readonly position: number;
};

/** The last revision that the stream must have; `no_stream`: it must not exist. */
export type ExpectedRevision = number | 'no_stream';

/** A conflict is an answer, not an error. `actual` is the stream's last revision, -1 if it does not exist. */
export type AppendOutcome =
  | { readonly ok: true; readonly revision: number; readonly position: number; readonly repeated: boolean }
  | { readonly ok: false; readonly actual: number };

export type OpenProcess = {
  readonly name: string;
  readonly id: string;
  readonly stream: string;
  readonly due: string | null;
};

export type ReadRange = {
  readonly direction: 'forwards' | 'backwards';
  /** First revision, inclusive. Default: 0 forwards, the last backwards. Beyond the end: empty forwards, the last backwards. */
  readonly from?: number;
  /** Last revision, inclusive, in reading order. */
  readonly to?: number;
  /** The maximum number of events (1..4096); fewer if they fill a page first. */
  readonly limit: number;
};

/**
 * One page of a stream. It ends with the event with which data and metadata reach READ_BYTES (src/kernel/base/page-size.ts), and holds at least one
 * event if the range has any. `lastRevision` shows whether there is more; the number of events does not.
 */
export type StreamPage = {
  readonly events: readonly RecordedEvent[];
  /**
   * The stream's last revision at the time of reading, -1 for a missing stream. No event up to it is missing from the page because it was written
   * late.
   */
  readonly lastRevision: number;
};

export type Subscription = {
  /** Only events after this global position; 0 means from the beginning. Give either this or `stream`. */
  readonly after?: number;
  /**
   * With `after`: only streams whose names begin with this. A remote store sends no others, so the reader never lags because of events that it does
   * not need.
   */
  readonly prefix?: string;
  /** Only this stream, from this revision on, inclusive. */
  readonly stream?: { readonly name: string; readonly from: number };
  /** Ends the subscription; the iteration then finishes normally. */
  readonly signal: AbortSignal;
};

/**
 * Append-only streams of events with one global order.
 *
 * Order: a stream's events are gapless from 0; a reader of the global order never sees an event appear before one it has already seen. Atomicity: one
 * append is written completely or not at all, and is durable (flushed) before its promise resolves.
 * Repeats: an append whose event ids are already at the expected revisions is answered `repeated: true` and writes nothing. Bounds: one append holds
 * at most 500 events and 1,048,000 bytes: data and metadata as UTF-8 JSON, and twice the length of each type. The data of one event is at most
 * 900,000 bytes. Beyond that: Rejection EVENTS_TOO_LARGE. A read ends near READ_BYTES, whatever its limit. Failures: Rejection STORE_FULL (disk
 * full), STORE_UNAVAILABLE (closed or unreachable), BUSY (queue over its bound). Nothing was written then. The exception is a remote store that was
 * lost while it wrote: the outcome is unknown, the message says so, and a repeat with the same ids settles it.
 */
export interface EventStore extends AsyncDisposable {
  /** No other process can write to this store, so an append that was sent behind a failed one can never succeed by chance. */
  readonly soleWriter?: true;
  append(stream: string, expected: ExpectedRevision, events: readonly EventToAppend[]): Promise<AppendOutcome>;
  read(stream: string, range: ReadRange): Promise<StreamPage>;
  /**
   * The global order, events after `after`, at most `limit` and near READ_BYTES; only an empty answer means that there is no more. `after` may be
   * below 0: then events are shown that someone else put at positions below 1.
   */
  readAll(after: number, limit: number): Promise<readonly RecordedEvent[]>;
  /** The global position of the last event, 0 if there is none. */
  lastPosition(): Promise<number>;
  /** History, then live, in batches near READ_BYTES at most, each event once. A slow reader slows only itself. */
  subscribe(options: Subscription): AsyncIterable<readonly RecordedEvent[]>;
  /** Processes whose last mark is open, with their deadlines. The index is written in the append's own transaction. */
  openProcesses(): Promise<readonly OpenProcess[]>;
}
