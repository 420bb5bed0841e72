import type { Clock } from '../../ports/clock.js';
import type { Random } from '../../ports/random.js';

/** The maximum number of requests per second that one process should refuse: a refusal costs a large part of what a step costs. */
export const REFUSALS_PER_SECOND = 100;
/** The maximum time for which clients are asked to wait, in seconds; longer if the refusal itself demands it. */
export const MOST_SECONDS = 10;
/** The time window for counting refusals, in milliseconds. */
const COUNTED_MS = 1_000;

type Pacing = {
  /**
   * Counts a refusal.
   * @param seconds the wait that the refusal demands
   * @param spread the minimum range of the random extra wait, in seconds
   * @returns the wait that the client is asked for
   */
  stretched(seconds: number, spread: number): number;
};

/**
 * Asks clients to retry later the more of them are waiting. Otherwise the clients that accumulated during an outage would overload the server with
 * retries alone. Each gets its own random time, so that they do not all return together.
 */
export const createRetryPacing = ({
  clock,
  random,
}: {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly random: Random;
}): Pacing => {
  let sinceMs = clock.monotonicMs();
  /** The sum of the waits given to clients since then. Divided by the time, it estimates how many clients are waiting. */
  let told = 0;
  /** The average wait that each needs, in seconds. */
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
