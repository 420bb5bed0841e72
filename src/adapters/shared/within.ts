import { withTimeLimit } from '../../kernel/concurrency/time-limit.js';

/** The machine's timers: these limits are for calls into client libraries, whose own timers use it, too. */
const timers = {
  after: (ms: number, run: () => void): (() => void) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** The result. A later one is ignored. @throws what it fails with in time, or an Error that `what` took longer */
export const inTime = <T>(ms: number, result: Promise<T>, what: string): Promise<T> =>
  withTimeLimit(timers, { ms, late: () => new Error(`${what} took longer than ${ms} ms.`) }, () => result);

/** The result if it comes within the time, else null. A later result or failure is ignored. @throws what it fails with in time */
export const within = async <T>(ms: number, result: Promise<T>): Promise<T | null> => {
  const late = new Error('late');
  try {
    return await withTimeLimit(timers, { ms, late: () => late }, () => result);
  } catch (error) {
    if (error === late) return null;
    throw error;
  }
};
