import type { EventStore } from '../../ports/event-store.js';
import type { Projection } from '../../ports/read-models.js';
import type { Build, ReadModelWriter } from '../../ports/read-model-writer.js';

/**
 * The approximate number of rows that one transaction of a projector writes. The rows of one event are not split; their number is bounded by the size
 * of the event.
 */
export const PORTION_ROWS = 2_048;
/**
 * The approximate size of the stored rows of one transaction, in bytes of JSON. Parsing and writing them blocks the event loop for about 40 ms. The
 * transaction adds only the current events: one read, or one round.
 */
export const PORTION_BYTES = 2 * 1024 * 1024;

/**
 * The approximate length of the words of one transaction, in UTF-16 units: writing them to an index takes about 10 ms. Those of one text are at most
 * a megabyte.
 */
export const PORTION_UNITS = 64 * 1024;

/** Bounds of what is gathered before it is written. */
export type Portion = { readonly rows: number; readonly bytes: number; readonly units: number };

/** The bounds of a transaction when nothing has failed. */
const PORTION: Portion = { rows: PORTION_ROWS, bytes: PORTION_BYTES, units: PORTION_UNITS };

/**
 * After a failure, this many transactions are written before larger ones are tried: if the database has a limit, each try fails, perhaps only after a
 * timeout.
 */
export const WRITTEN_BEFORE_GROWTH = 64;

/**
 * A build that is being fed with events. `next` bounds its next transaction: less after a failed one, which may have been too large. `written` counts
 * the transactions since the last failure.
 */
export type Feed = {
  readonly projection: Projection;
  readonly handles: (type: string) => boolean;
  readonly next: { portion: Portion; written: number };
  build: Build;
};

/**
 * Opens a build that was made from the events of this store. A build beyond the store's end was made from another store, e.g. before a backup was
 * restored: readers see it until its replacement is swapped in.
 * @throws what the event store and the writer throw
 */
export const openWithin = async (
  events: Pick<EventStore, 'lastPosition'>,
  writer: ReadModelWriter,
  projection: Projection,
): Promise<Build> => {
  const build = await writer.open(projection);
  // Read after the build was opened, because others write meanwhile.
  const last = await events.lastPosition();
  if (build.position <= last) return build;
  await writer.abandon(build);
  return writer.open(projection);
};

/** Makes a feed of a build. */
export const feedOf = (projection: Projection, build: Build): Feed => {
  const handled = projection.handles === 'all' ? null : new Set(projection.handles);
  return {
    projection,
    handles: (type) => handled === null || handled.has(type),
    next: { portion: PORTION, written: 0 },
    build,
  };
};

const halfOf = ({ rows, bytes, units }: Portion): Portion => ({
  rows: Math.ceil(rows / 2),
  bytes: Math.ceil(bytes / 2),
  units: Math.ceil(units / 2),
});
const doubleOf = ({ rows, bytes, units }: Portion): Portion => ({
  rows: Math.min(PORTION.rows, 2 * rows),
  bytes: Math.min(PORTION.bytes, 2 * bytes),
  units: Math.min(PORTION.units, 2 * units),
});

/** Halves the next transactions after a load or a transaction that failed, since it may have been too large. */
export const shrink = ({ next }: Feed): void => {
  next.portion = halfOf(next.portion);
  next.written = 0;
};

/** Doubles the next transactions after one that was written, up to the full portion, unless the last failure was recent. */
export const grow = ({ next }: Feed): void => {
  next.written += 1;
  if (next.written <= WRITTEN_BEFORE_GROWTH) return;
  next.portion = doubleOf(next.portion);
};

/** Shows readers the builds that have reached `target`. @throws what the writer throws */
export const swapInAt = async (target: number, writer: ReadModelWriter, feeds: readonly Feed[]): Promise<void> => {
  for (const feed of feeds) {
    if (feed.build.live || feed.build.position < target) continue;
    await writer.swapIn(feed.build);
    feed.build = { ...feed.build, live: true };
  }
};
