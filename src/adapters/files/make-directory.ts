import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** What everything of ours is made with: its owner alone may enter (mode 0700). */
const OWNER_ONLY = 0o700;

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/** Makes one directory; one that is there is left as it is. */
const makeOne = async (path: string): Promise<void> => {
  try {
    await mkdir(path, { mode: OWNER_ONLY });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST' || !(await stat(path)).isDirectory()) throw error;
  }
};

/**
 * Makes a directory and those above it, as far as they are missing. Node's own recursive `mkdir` never ends where a file system answers that a
 * directory is missing although its parent is there (`/proc`); here each is tried twice at most.
 * @throws what the file system says
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
