/** From how many answers the difference of the clocks is known. */
const SAMPLES = 16;

/** Translates moments of this process into Temporal's time, which its answers show. */
export type ServerClock = {
  /** An answer says what Temporal's clock showed at some moment after the request was sent at `sentMs`. */
  note(sentMs: number, serverMs: number): void;
  /** Forgets what was known, when an answer shows that it is wrong. */
  reset(): void;
  /** A moment of the monotonic clock on Temporal's, not too early; null while no answer has come. */
  at(monotonicMs: number): number | null;
};

/**
 * The server's time lies behind the sending by what the way took. The smallest difference of the last answers is therefore the best, and too large by at
 * most that way: a deadline is taken for a little later than it is, never for earlier.
 */
export const createServerClock = (): ServerClock => {
  let differences: readonly number[] = [];
  return {
    note(sentMs, serverMs) {
      differences = [...differences, serverMs - sentMs].slice(-SAMPLES);
    },
    reset() {
      differences = [];
    },
    at(monotonicMs) {
      return differences.length === 0 ? null : monotonicMs + Math.min(...differences);
    },
  };
};
