import type { Clock } from '../../ports/clock.js';

/** setTimeout counts in 32 bits: longer waits are split. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;
/** How often a wait for an instant checks the wall clock again, in milliseconds: it may have been set forwards. */
const LOOK_AGAIN_MS = 30_000;

const after: Clock['after'] = (ms, run) => {
  const timer = setTimeout(run, Math.min(Math.max(ms, 0), LONGEST_TIMEOUT_MS));
  timer.unref();
  return () => {
    clearTimeout(timer);
  };
};

/** The machine's clocks. */
export const systemClock: Clock = {
  now: () => new Date(),
  at: (at, run) => {
    let cancel: () => void;
    const wait = (): void => {
      const left = at.getTime() - Date.now();
      cancel = left <= 0 ? after(0, run) : after(Math.min(left, LOOK_AGAIN_MS), wait);
    };
    wait();
    return () => {
      cancel();
    };
  },
  monotonicMs: () => performance.now(),
  after,
};
