/** Time, as the application sees it. Tests drive it by hand. */
export interface Clock {
  now(): Date;
  /** Calls `run` once, not before `at` (absolute; far instants are allowed). Returns a function that cancels it. Does not keep the process alive. */
  at(at: Date, run: () => void): () => void;
}
