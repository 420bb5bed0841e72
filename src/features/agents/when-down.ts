import type { Clock } from '../../ports/clock.js';
import type { CortexEngine } from '../../ports/cortex.js';

/** How often to check whether the engine is known to be down, in milliseconds. */
const LOOK_EVERY_MS = 250;

/**
 * A signal that aborts once the engine is known to be down, because waiting would then be pointless. The knowledge comes from this process's own
 * calls in the last seconds. If another process runs the turn, this one may know nothing, and a wait takes its full time.
 * @param reason the reason of the abort
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
