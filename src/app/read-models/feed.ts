import type { Projection } from '../../ports/read-models.js';
import type { Build } from '../../ports/read-model-writer.js';

/**
 * How many rows one transaction of a projector writes, more or less: the rows of one event are not parted, and it has no more of them than its
 * bytes can name (contract 1.2).
 */
export const PORTION_ROWS = 2_048;
/**
 * How many bytes of JSON the stored rows have, more or less, that one transaction of a projector goes on from: parsing and writing them holds the
 * event loop for some 40 ms. What it adds to them are the events at hand, which are a read or a round.
 */
export const PORTION_BYTES = 2 * 1024 * 1024;

/** Bounds of what is gathered before it is written. */
export type Portion = { readonly rows: number; readonly bytes: number };

/** What one transaction takes when nothing has failed. */
const PORTION: Portion = { rows: PORTION_ROWS, bytes: PORTION_BYTES };

/** A build that is being fed with events. `next`: what its next transaction takes; smaller after one that failed, which may have been too large. */
export type Feed = {
  readonly projection: Projection;
  readonly handles: (type: string) => boolean;
  readonly next: { portion: Portion };
  build: Build;
};

/** Makes a feed of a build. */
export const feedOf = (projection: Projection, build: Build): Feed => {
  const handled = projection.handles === 'all' ? null : new Set(projection.handles);
  return { projection, handles: (type) => handled === null || handled.has(type), next: { portion: PORTION }, build };
};

const halfOf = ({ rows, bytes }: Portion): Portion => ({
  rows: Math.ceil(rows / 2),
  bytes: Math.ceil(bytes / 2),
});
const doubleOf = ({ rows, bytes }: Portion): Portion => ({
  rows: Math.min(PORTION.rows, 2 * rows),
  bytes: Math.min(PORTION.bytes, 2 * bytes),
});

/** After a load or a transaction that failed the next ones are half as large: it may have been too much. */
export const shrink = ({ next }: Feed): void => {
  next.portion = halfOf(next.portion);
};

/** After a transaction that was written the next ones are twice as large, up to what one takes when nothing has failed. */
export const grow = ({ next }: Feed): void => {
  next.portion = doubleOf(next.portion);
};
