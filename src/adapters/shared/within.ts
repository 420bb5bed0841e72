/** What comes of it within the time, else null; a result that comes later, or a failure, is nobody's. @throws what it fails with in time */
export const within = async <T>(ms: number, result: Promise<T>): Promise<T | null> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms);
  });
  return Promise.race([result, late]).finally(() => clearTimeout(timer));
};
