import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The mode of every directory that the server creates: only its owner may enter (0700). */
const OWNER_ONLY = 0o700;

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/** Creates one directory; an existing one is unchanged. */
const makeOne = async (path: string): Promise<void> => {
  try {
    await mkdir(path, { mode: OWNER_ONLY });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST' || !(await stat(path)).isDirectory()) throw error;
  }
};

/**
 * Creates a directory and its missing parents. Node's own recursive `mkdir` never ends if a file system reports that a directory is missing although
 * its parent exists (`/proc`); here each is tried at most twice.
 * @throws what the file system reports
 */
export const makeDirectory = async (path: string): Promise<void> => {
  try {
    await makeOne(path);
  } catch (error) {
    const above = dirname(path);
    if (codeOf(error) !== 'ENOENT' || above === path) throw error;
    await makeDirectory(above);
    await makeOne(path);
  }
};
