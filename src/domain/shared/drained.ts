import type { Sliced } from '../rules/hold-patterns.js';

/** Does sliced work in one go: for a process that nobody else waits for, such as the command line. */
export const drained = <Result>(work: Sliced<Result>): Result => {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
};
