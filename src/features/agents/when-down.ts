import type { Clock } from '../../ports/clock.js';
import type { CortexEngine } from '../../ports/cortex.js';

/** How often it is looked whether the engine is known to be down, in milliseconds. */
const LOOK_EVERY_MS = 250;

/**
 * A signal that aborts once the engine is known to be down: nobody should wait for what will not come. Known is what this process's own calls have
 * shown in the last seconds. Where another process plays the turn, nothing may be known here, and a wait takes its whole time.
 * @param reason what the signal aborts with
 */
export const whenDown = (
  clock: Pick<Clock, 'after'>,
  engine: Pick<CortexEngine, 'down'>,
  reason: () => Error,
): { readonly signal: AbortSignal; readonly stop: () => void } => {
  const down = new AbortController();
  const look = (): void => {
    if (engine.down() !== null) down.abort(reason());
    else cancel = clock.after(LOOK_EVERY_MS, look);
  };
  let cancel = clock.after(LOOK_EVERY_MS, look);
  return { signal: down.signal, stop: () => cancel() };
};
