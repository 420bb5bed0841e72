import { open } from 'node:fs/promises';

const flush = async (path: string): Promise<void> => {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** Flushes a directory, so that a name created in it survives a power cut. Windows cannot open a directory, and does not need this. */
export const flushDirectory = async (path: string): Promise<void> => {
  if (process.platform !== 'win32') await flush(path);
};
