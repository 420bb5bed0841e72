import type { Json } from '../kernel/base/json.js';
import type { Count, Passage, Projection, RowIndex } from './read-models.js';

/** One run of a projection over the events: its rows, its progress, and its position. */
export type Build = {
  readonly id: number;
  readonly name: string;
  readonly version: number;
  /** The position up to which the global order is handled. */
  readonly position: number;
  /** False while it is being built alongside the build that readers see. */
  readonly live: boolean;
};

/** The position of a build that was made from events other than the store's: permanently beyond all of them. */
export const ABANDONED = Number.MAX_SAFE_INTEGER;

/** An event that a projection could not apply. Its stream stops for that projection until a new version or a rebuild. */
export type ParkedEvent = {
  readonly projection: string;
  readonly version: number;
  readonly stream: string;
  readonly revision: number;
  readonly eventId: string;
  readonly type: string;
  readonly reason: string;
  /** RFC 3339. */
  readonly at: string;
};

/** The progress of a build in one stream: the last applied revision (-1: none), and whether a parked event stops it. */
export type StreamStanding = { readonly revision: number; readonly parked: boolean };

export type Loaded = {
  /** Keys without a row are left out. */
  readonly rows: ReadonlyMap<string, Json>;
  /** How many of the keys were looked up, in the order of the request. */
  readonly keys: number;
  /** The size of the rows, in bytes of JSON. */
  readonly bytes: number;
  /** Every requested stream. */
  readonly streams: ReadonlyMap<string, StreamStanding>;
};

/**
 * A text with its words, which are extracted beforehand, because in a transaction that would block all others. The words are separated by spaces; as
 * one string, many of them wait for their transaction at little cost.
 */
export type IndexedText = { readonly text: string; readonly words: string };
export type IndexedPassage = Passage & IndexedText;

export type RowChange = {
  readonly key: string;
  readonly row: Json;
  readonly index: RowIndex;
  /**
   * Only if the projection's rows have texts: the row's stream, its text with the words that it is found by (`wordsOf`), or null, and the group of the
   * text.
   */
  readonly search?: { readonly stream: string; readonly text: IndexedText | null; readonly group: string | null };
  /** Only if the projection's rows have passages: the new ones of this row, or all of them, with their words (`wordsInSlices`). */
  readonly passages?: readonly IndexedPassage[];
};

/** The changes of a batch of events to a build. */
export type Changes = {
  readonly put: readonly RowChange[];
  readonly remove: readonly string[];
  /** Only if the projection counts: what is added, each partition, place and name once. */
  readonly counts?: readonly (Count & { readonly count: number })[];
  /** For each stream the revision that the batch was based on, and the revision that it reaches. */
  readonly progress: readonly { readonly stream: string; readonly from: number; readonly to: number }[];
  readonly parked: readonly Omit<ParkedEvent, 'projection' | 'version'>[];
  readonly position: number;
};

/**
 * The write side of the read models, for the projector.
 *
 * Builds: readers of a projection see the live build of its version. Until there is one, they see the newest live build of the same name, so they
 * must understand its rows (a projection whose old rows must not be read gets a new name). Without any live build they see the unfinished build.
 * Atomicity: one commit writes rows, counts, progress, parked events and position together or not at all.
 * Order: `order` of rows is compared by code point. A waiting reader is answered by the commit that reaches what it waits for, or immediately if a
 * parked event means that it never will.
 * Failures: if anything throws, nothing was written.
 */
export interface ReadModelWriter {
  /**
   * Opens a build of exactly this version, never an abandoned one: the build that readers see, else the newest unfinished one, else a new one.
   * Processes that open one at the same time get the same. Other unfinished builds next to the one that readers see are dropped: a stopped rebuild
   * left them.
   */
  open(projection: Projection): Promise<Build>;
  /**
   * Like `open`, if this process had a build open before: that build, if it still exists and was not abandoned. Null if a newer version has replaced
   * it: a process that drains begins none.
   */
  reopen(projection: Projection, before: Build): Promise<Build | null>;
  /**
   * Abandons a build that was made from events other than the store's. Readers see it until another is swapped in. Nothing more is written into it,
   * and it has reached no position that a reader waits for. The store may grow past the position that it had, so it gets the position ABANDONED.
   */
  abandon(build: Build): Promise<void>;
  /** Begins a new, empty build alongside the one that readers see. Drops unfinished ones of the version. */
  begin(projection: Projection): Promise<Build>;
  /** The progress of the streams, and the rows of the keys up to the one with which they reach this many `bytes` of JSON; all of them if absent. */
  load(build: Build, keys: readonly string[], streams: readonly string[], bytes?: number): Promise<Loaded>;
  /** False if another writer moved one of the streams since `load`: nothing was written, load again. Throws if the build was dropped or abandoned. */
  commit(build: Build, changes: Changes): Promise<boolean>;
  /** Shows the build to readers and drops the others of its name, except those of newer versions. */
  swapIn(build: Build): Promise<void>;
  /** At most `limit` parked events of all builds, by projection and stream. */
  parked(limit: number): Promise<readonly ParkedEvent[]>;
  /** How many events are parked by the builds that readers of these versions see, and by the builds of these versions. */
  parkedCount(projections: readonly Pick<Projection, 'name' | 'version'>[]): Promise<number>;
  /** Whether a reader waits for something that is not applied yet. */
  awaited(): boolean;
  /** Calls `listener` whenever a reader begins to wait; returns a function that removes it. */
  onAwaited(listener: () => void): () => void;
}
