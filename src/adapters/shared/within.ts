/** The result if it comes within the time, else null. A later result or failure is ignored. @throws what it fails with in time */
export const within = async <T>(ms: number, result: Promise<T>): Promise<T | null> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms);
  });
  return Promise.race([result, late]).finally(() => clearTimeout(timer));
};
