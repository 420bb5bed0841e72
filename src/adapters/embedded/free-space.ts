import { statfs } from 'node:fs/promises';

import { diskFull } from '../shared/disk-full.js';

/** The free space needed for the largest commit and the log that it is first written to, in bytes. */
export const LEAST_FREE_BYTES = 32 * 1024 * 1024;

/**
 * Resolves if the disk of a directory has room for the next write.
 * @throws Rejection STORE_FULL; what the file system throws
 */
export const requireFreeSpace = async (
  directory: string,
  look: (path: string) => Promise<{ readonly bavail: number; readonly bsize: number }> = statfs,
): Promise<void> => {
  const { bavail, bsize } = await look(directory);
  if (bavail * bsize < LEAST_FREE_BYTES) throw diskFull();
};
