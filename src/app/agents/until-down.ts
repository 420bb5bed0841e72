import type { Clock } from '../../ports/clock.js';
import type { CortexEngine } from '../../ports/cortex.js';

/** How often it is looked whether the engine is known to be down, in milliseconds. */
const LOOK_EVERY_MS = 250;

/**
 * Waits for `work`, but no longer than until the engine is known to be down: nobody should wait for what will not come.
 * @returns null when that came first
 * @throws what the work throws
 */
export const untilDown = async <T>(
  clock: Pick<Clock, 'after'>,
  engine: Pick<CortexEngine, 'state'>,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | null> => {
  const down = new AbortController();
  const look = (): void => {
    if (engine.state() !== 'ready') down.abort();
    else cancel = clock.after(LOOK_EVERY_MS, look);
  };
  let cancel = clock.after(LOOK_EVERY_MS, look);
  try {
    return await work(down.signal);
  } catch (error) {
    if (down.signal.aborted) return null;
    throw error;
  } finally {
    cancel();
  }
};
