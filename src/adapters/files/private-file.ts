import { open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

import { flushDirectory } from './flush.js';

const OWNER_ONLY = 0o600;

/**
 * Writes one line to a file that only its owner may read (mode 0600), atomically, flushed before the promise resolves. An existing file is replaced
 * together with its mode.
 */
export const writePrivateLine = async (path: string, line: string): Promise<void> => {
  const unfinished = `${path}.tmp`;
  await rm(unfinished, { force: true });
  const handle = await open(unfinished, 'wx', OWNER_ONLY);
  try {
    await handle.writeFile(`${line}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(unfinished, path);
  await flushDirectory(dirname(path));
};

/** Moves a file to its final name, replacing any existing file; flushed before the promise resolves. */
export const settleFile = async (from: string, to: string): Promise<void> => {
  await rename(from, to);
  await flushDirectory(dirname(to));
};

/** A file's text without the white space around it, or null if the file does not exist. */
export const readLine = async (path: string): Promise<string | null> => {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
};
