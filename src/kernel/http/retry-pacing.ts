import type { Clock } from '../../ports/clock.js';
import type { Random } from '../../ports/random.js';

/** How many requests a second one process should refuse at most: a refusal costs as much as a good part of a step. */
export const REFUSALS_PER_SECOND = 100;
/** How long clients are asked to wait at most, in seconds; longer where what is away asks for it. */
export const MOST_SECONDS = 10;
/** The time window for counting refusals, in milliseconds. */
const COUNTED_MS = 1_000;

type Pacing = {
  /**
   * Counts a refusal.
   * @param seconds what it asks for
   * @param spread up to how many seconds more its client is asked for at least
   * @returns what its client is asked for
   */
  stretched(seconds: number, spread: number): number;
};

/**
 * Asks clients to retry later, the more of them wait. Otherwise the clients that gathered during an outage would overload the server with retries alone.
 * Each gets its own random time, so that they do not all return at once.
 */
export const createRetryPacing = ({
  clock,
  random,
}: {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly random: Random;
}): Pacing => {
  let sinceMs = clock.monotonicMs();
  /** All seconds that clients were told since then. So many wait as they are told in a second. */
  let told = 0;
  /** For how long each must wait on average, in seconds. */
  let wanted = 0;
  return {
    stretched: (seconds, spread) => {
      const passedMs = clock.monotonicMs() - sinceMs;
      if (passedMs >= COUNTED_MS) {
        wanted = (told * 1_000) / passedMs / REFUSALS_PER_SECOND;
        sinceMs += passedMs;
        told = 0;
      }
      const more = Math.max(spread, Math.round(2 * (wanted - seconds)));
      const room = Math.max(0, Math.min(more, MOST_SECONDS - seconds));
      const [byte = 0] = random.bytes(1);
      const chosen = seconds + (byte % (room + 1));
      told += chosen;
      return chosen;
    },
  };
};
