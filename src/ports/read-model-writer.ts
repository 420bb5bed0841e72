import type { Json } from '../kernel/base/json.js';
import type { Passage, Projection, RowIndex } from './read-models.js';

/** One run of a projection over the events: its rows, its progress, and how far it has come. */
export type Build = {
  readonly id: number;
  readonly name: string;
  readonly version: number;
  /** The global order is handled up to here. */
  readonly position: number;
  /** False while it is being built beside the one that readers see. */
  readonly live: boolean;
};

/** The position of a build that was made from other events than the store has: beyond all of them, for good. */
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

/** How far a build is with one stream: the last applied revision (-1: none), and whether a parked event stops it. */
export type StreamStanding = { readonly revision: number; readonly parked: boolean };

export type Loaded = {
  /** Keys without a row are left out. */
  readonly rows: ReadonlyMap<string, Json>;
  /** How many of the keys were looked up, in the order in which they were asked for. */
  readonly keys: number;
  /** How many bytes of JSON the rows take. */
  readonly bytes: number;
  /** Every stream asked for. */
  readonly streams: ReadonlyMap<string, StreamStanding>;
};

/**
 * A text with its words, which are found beforehand: in a transaction that would hold up all others. Between the words is a space; as one text, many
 * of them wait for their transaction at little cost.
 */
export type IndexedText = { readonly text: string; readonly words: string };
export type IndexedPassage = Passage & IndexedText;

export type RowChange = {
  readonly key: string;
  readonly row: Json;
  readonly index: RowIndex;
  /** Only if the projection's rows have texts: the row's stream, and its text with the words that it is found by (`wordsOf`), or null. */
  readonly search?: { readonly stream: string; readonly text: IndexedText | null };
  /** Only if the projection's rows have passages: those of this row that are new, or all of them, with their words (`searchWords`). */
  readonly passages?: readonly IndexedPassage[];
};

/** What a batch of events does to a build. */
export type Changes = {
  readonly put: readonly RowChange[];
  readonly remove: readonly string[];
  /** For each stream the revision that the batch was made on, and the revision that it reaches. */
  readonly progress: readonly { readonly stream: string; readonly from: number; readonly to: number }[];
  readonly parked: readonly Omit<ParkedEvent, 'projection' | 'version'>[];
  readonly position: number;
};

/**
 * The write side of the read models, for the projector.
 *
 * Builds: readers of a projection see the live build of its version. Until there is one, they see the newest live build of the same name, so they
 * must understand its rows (a projection whose old rows must not be read gets a new name). Without any live build they see the unfinished build.
 * Atomicity: one commit writes rows, progress, parked events and position together or not at all.
 * Order: `order` of rows is compared by code point. A waiting reader is answered by the commit that brings what it waits for, or at once when a
 * parked event means that it never comes.
 * Failures: any throw means that nothing was written.
 */
export interface ReadModelWriter {
  /**
   * Of exactly this version, but for abandoned ones: the build that readers see, else the newest unfinished one, else a new one. Processes that open one
   * at the same time get the same. Unfinished ones beside the build that readers see are dropped: a stopped rebuild left them.
   */
  open(projection: Projection): Promise<Build>;
  /**
   * As `open`, where this process had a build open before: that one, if it is still there and was not abandoned. Null when a newer version has taken its
   * place: a process that drains begins none.
   */
  reopen(projection: Projection, before: Build): Promise<Build | null>;
  /**
   * Gives up a build that was made from other events than the store has. Readers see it until another is swapped in. Nothing is written into it any more,
   * and it has reached no position that a reader waits for. The store may grow past the position that it had, so it gets the position ABANDONED.
   */
  abandon(build: Build): Promise<void>;
  /** A new, empty build beside the one that readers see. Drops unfinished ones of the version. */
  begin(projection: Projection): Promise<Build>;
  /** The streams' standings, and the rows of the keys up to the one that brings them to so many `bytes` of JSON: all of them when that is absent. */
  load(build: Build, keys: readonly string[], streams: readonly string[], bytes?: number): Promise<Loaded>;
  /** False when another writer moved one of the streams since `load`: nothing was written, load again. Throws when the build was dropped or abandoned. */
  commit(build: Build, changes: Changes): Promise<boolean>;
  /** Shows the build to readers and drops the others of its name, except those of newer versions. */
  swapIn(build: Build): Promise<void>;
  /** At most `limit` parked events of all builds, by projection and stream. */
  parked(limit: number): Promise<readonly ParkedEvent[]>;
  /** How many events are parked by the builds that readers of these versions see, and by those of these versions. */
  parkedCount(projections: readonly Pick<Projection, 'name' | 'version'>[]): Promise<number>;
  /** Whether a reader waits for something that is not applied yet. */
  awaited(): boolean;
  /** Calls `listener` whenever a reader begins to wait; returns a function that ends that. */
  onAwaited(listener: () => void): () => void;
}
