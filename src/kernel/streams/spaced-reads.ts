import type { Clock } from '../../ports/clock.js';
import { pause } from '../concurrency/pause.js';

/** The shortest time between the starts of two reads, in milliseconds: requests for things that do not exist must not cost a read each. */
export const READ_AGAIN_MS = 1_000;

export type SpacedReads = {
  /** Resolves after a read that began after this call; all waiting callers share that read. Rejects if the read fails. */
  anew(): Promise<void>;
  /** Resolves after a read that began less than READ_AGAIN_MS ago. Rejects if the read fails. */
  lately(): Promise<void>;
};

/** Reads on request, but never sooner than READ_AGAIN_MS after the last read began. */
export const spaceReads = (clock: Clock, read: () => Promise<void>): SpacedReads => {
  let begunMs = -Infinity;
  let last = Promise.resolve();
  let next: Promise<void> | null = null;
  const sinceBegun = (): number => clock.monotonicMs() - begunMs;
  const begin = (): Promise<void> => {
    next = null;
    begunMs = clock.monotonicMs();
    last = read();
    return last;
  };
  const allowed = async (): Promise<void> => {
    const early = READ_AGAIN_MS - sinceBegun();
    if (early > 0) await pause(clock, early);
  };
  const anew = (): Promise<void> => (next ??= allowed().then(begin));
  return { anew, lately: () => (sinceBegun() < READ_AGAIN_MS ? last : anew()) };
};
