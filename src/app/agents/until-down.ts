import type { Clock } from '../../ports/clock.js';
import type { CortexEngine } from '../../ports/cortex.js';

/** How often it is looked whether the engine is known to be down, in milliseconds. */
const LOOK_EVERY_MS = 250;

/**
 * Waits for `work`, but no longer than until the engine is known to be down: nobody should wait for what will not come. Known is what this process's
 * own calls have shown in the last seconds. Where another process plays the turn, nothing may be known here, and the wait takes its whole time.
 * @returns null when that came first
 * @throws what the work throws
 */
export const untilDown = async <T>(
  clock: Pick<Clock, 'after'>,
  engine: Pick<CortexEngine, 'down'>,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | null> => {
  const down = new AbortController();
  const look = (): void => {
    if (engine.down() !== null) down.abort();
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
