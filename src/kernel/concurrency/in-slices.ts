import type { Sliced } from '../base/sliced.js';
import { yieldToEventLoop } from './yield-to-event-loop.js';

/** Pauses after `every` units of work, counted over all calls that share it. */
export type SlicePace = { readonly every: number; unpaused: number };

/**
 * Runs work that comes in slices, and yields to the event loop after each.
 * @param pace pauses by this count instead of after each slice
 */
export const inSlices = async <Result>(work: Sliced<Result>, pace?: SlicePace): Promise<Result> => {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    if (pace !== undefined) {
      pace.unpaused += value;
      if (pace.unpaused < pace.every) continue;
      pace.unpaused = 0;
    }
    await yieldToEventLoop();
  }
};
