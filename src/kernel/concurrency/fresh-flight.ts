/**
 * Shares runs of `work` among callers, each of whom gets a run that began after his call. A run under way may have missed what came since, so who
 * calls during it waits for the next one, and all of them share that.
 */
export const freshFlight = <T>(work: () => Promise<T>): (() => Promise<T>) => {
  let running: Promise<T> | null = null;
  let next: Promise<T> | null = null;
  const run = (): Promise<T> => {
    const mine = work().finally(() => {
      if (running === mine) running = null;
    });
    running = mine;
    return mine;
  };
  return () => {
    if (running === null) return run();
    return (next ??= running
      .catch(() => undefined)
      .then(() => {
        next = null;
        return run();
      }));
  };
};
