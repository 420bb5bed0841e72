/** Work that its driver may pause at every `yield`. It yields how much was done since the last one, in a unit of its own. */
export type Sliced<Result> = Generator<number, Result, void>;

/** Does sliced work in one go: for a process that nobody else waits for, such as the command line. */
export const drained = <Result>(work: Sliced<Result>): Result => {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
};
