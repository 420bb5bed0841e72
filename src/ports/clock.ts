/**
 * Time, as the application sees it. Tests control it by hand.
 *
 * There are two clocks. The wall clock shows the present instant; it may be set forwards or back. Deadlines are instants. The monotonic clock only
 * measures how much time has passed, and cannot be set. Durations (pauses, waits, leases) use it.
 */
export interface Clock {
  /** The current time of the wall clock. */
  now(): Date;
  /**
   * Calls `run` once, when the wall clock shows `at` or later; it may be far in the future. Returns a function that cancels it. Does not keep the
   * process alive.
   */
  at(at: Date, run: () => void): () => void;
  /** Milliseconds since some fixed moment of this process; never goes back. */
  monotonicMs(): number;
  /** Calls `run` once, `ms` milliseconds from now by the monotonic clock. Returns a function that cancels it. Does not keep the process alive. */
  after(ms: number, run: () => void): () => void;
}
