import { stat, statfs } from 'node:fs/promises';

/** Sizes in bytes. */
export type DiskFigures = { readonly eventBytes: number; readonly freeBytes: number };

/** The size of a database file with its log, and what is free on its disk. Propagates errors from the file system. */
export const diskFigures = async (file: string): Promise<DiskFigures> => {
  const sizes = [file, `${file}-wal`].map(async (path) => (await stat(path).catch(() => null))?.size ?? 0);
  const { bavail, bsize } = await statfs(file);
  return { eventBytes: (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0), freeBytes: bavail * bsize };
};
