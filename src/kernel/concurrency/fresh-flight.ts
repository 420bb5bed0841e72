/**
 * Shares runs of `work` among callers, each of which gets a run that began after its call. A run in progress may have missed recent changes, so
 * callers during it wait for the next one, and all of them share that.
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
