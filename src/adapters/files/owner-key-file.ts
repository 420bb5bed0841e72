import { rm } from 'node:fs/promises';
import { join } from 'node:path';

import { StartProblem } from '../../kernel/base/start-problem.js';
import type { OwnerKeyFile } from '../../ports/owner-key-file.js';
import { makeDirectory } from './make-directory.js';
import { readLine, settleFile, writePrivateLine } from './private-file.js';

const inside = (dataDir: string): string => join(dataDir, 'owner-key');

/** The owner key of a server on this machine, or null. Commands use it if no key is given. */
export const readOwnerKey = (dataDir: string): Promise<string | null> => readLine(inside(dataDir));

/** `<data dir>/owner-key`, mode 0600; a prepared key waits in `owner-key.new`. Creates the directory if it is missing. */
export const ownerKeyFile = (dataDir: string): OwnerKeyFile => {
  const path = inside(dataDir);
  const waiting = `${path}.new`;
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (cause) {
      const reason = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
      throw new StartProblem(`The owner key cannot be written to ${path} (${reason}).`, { cause });
    }
  };
  return {
    path,
    prepare: (key) =>
      guarded(async () => {
        await makeDirectory(dataDir);
        await writePrivateLine(waiting, key);
      }),
    prepared: () => guarded(() => readLine(waiting)),
    settle: () => guarded(() => settleFile(waiting, path)),
    discard: () => guarded(() => rm(waiting, { force: true })),
  };
};
