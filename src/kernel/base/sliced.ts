/** Work that its driver may pause at every `yield`. It yields the amount of work since the last one, in its own unit. */
export type Sliced<Result> = Generator<number, Result, void>;

/** Runs sliced work without pauses, for processes that serve no one else, such as the command line. */
export const drained = <Result>(work: Sliced<Result>): Result => {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
};
