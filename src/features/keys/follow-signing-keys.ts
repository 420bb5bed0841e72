import { pause } from '../../kernel/concurrency/pause.js';
import type { Clock } from '../../ports/clock.js';
import type { KnownSigningKeys } from './signing-keys.js';

/** How often a process looks for changes that others made to the signing keys, in milliseconds. */
export const FOLLOW_MS = 500;

/**
 * Lets rotations and revocations by other servers take effect in this process, from now on until it is disposed of. While the store is unavailable,
 * the known keys stay in force; others report the outage.
 */
export const followSigningKeys = (signingKeys: Pick<KnownSigningKeys, 'refresh'>, clock: Clock): AsyncDisposable => {
  const stop = new AbortController();
  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await pause(clock, FOLLOW_MS, stop.signal);
      await signingKeys.refresh().catch(() => undefined);
    }
  };
  const running = run();
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await running;
    },
  };
};
