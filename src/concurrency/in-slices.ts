import type { Sliced } from '../domain/shared/sliced.js';
import { yieldToEventLoop } from './yield-to-event-loop.js';

/** Runs work that comes in slices, and lets the event loop serve others after each. */
export const inSlices = async <Result>(work: Sliced<Result>): Promise<Result> => {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    await yieldToEventLoop();
  }
};
