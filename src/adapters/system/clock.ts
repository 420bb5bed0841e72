import type { Clock } from '../../ports/clock.js';

/** setTimeout counts in 32 bits: longer waits are cut and looked at again. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

/** The machine's clock. Timers follow the wall clock: after a jump they fire at the next look. */
export const systemClock: Clock = {
  now: () => new Date(),
  at: (at, run) => {
    let timer: NodeJS.Timeout;
    const wait = (): void => {
      const left = at.getTime() - Date.now();
      timer = left <= 0 ? setTimeout(run, 0) : setTimeout(wait, Math.min(left, LONGEST_TIMEOUT_MS));
      timer.unref();
    };
    wait();
    return () => {
      clearTimeout(timer);
    };
  },
};
