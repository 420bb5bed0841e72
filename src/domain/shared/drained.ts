/** Does sliced work in one go: for a process that nobody else waits for, such as the command line. */
export const drained = <Result>(work: Generator<number, Result, void>): Result => {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
};
