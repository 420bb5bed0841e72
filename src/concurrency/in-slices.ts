import type { Sliced } from '../domain/shared/sliced.js';
import { yieldToEventLoop } from './yield-to-event-loop.js';

/** Lets others have their turn after so much work, also where it is that of many small pieces one after the other. */
export type Pace = { readonly every: number; unpaused: number };

/**
 * Runs work that comes in slices, and lets the event loop serve others after each.
 * @param pace when others have their turn instead: after slices of so much work together
 */
export const inSlices = async <Result>(work: Sliced<Result>, pace?: Pace): Promise<Result> => {
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
