/** The result if it comes within the time, else null. A later result or failure is ignored. @throws what it fails with in time */
export const within = <T>(ms: number, result: Promise<T>): Promise<T | null> => raced<T | null>(ms, result, () => null);

/** The result. A later one is ignored. @throws what it fails with in time, or an Error that says that `what` took longer */
export const inTime = <T>(ms: number, result: Promise<T>, what: string): Promise<T> =>
  raced(ms, result, () => {
    throw new Error(`${what} took longer than ${ms} ms.`);
  });

const raced = async <T>(ms: number, result: Promise<T>, late: () => T): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const time = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  return Promise.race([result, time.then(late)]).finally(() => clearTimeout(timer));
};
