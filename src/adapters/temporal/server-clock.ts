/** The number of answers after which the difference of the clocks is known. */
const SAMPLES = 16;

/** Translates moments of this process into Temporal's time, which its answers show. */
export type ServerClock = {
  /** Notes an answer: Temporal's clock at some moment after the request was sent at `sentMs`. */
  note(sentMs: number, serverMs: number): void;
  /** Discards the difference, when an answer shows that it is wrong. */
  reset(): void;
  /** A moment of the monotonic clock on Temporal's, not too early; null while no answer has come. */
  at(monotonicMs: number): number | null;
};

/**
 * The server's time is later than the sending by the time of the way. The smallest difference of the last answers is therefore the best, and too
 * large by at most that time: a deadline is assumed to be a little later than it is, never earlier.
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
