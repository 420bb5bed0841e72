import { createHash } from 'node:crypto';
import { type Server, createServer } from 'node:net';

import { waitUntil } from './waiting.js';

/** One command may take as long as the slowest download. */
const TURN_LIMIT_MS = 30 * 60_000;

const listen = (name: string): Promise<Server | undefined> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
    );
    server.listen(name, () => resolve(server));
  });

/**
 * Runs one command at a time per directory. The lock is a Linux socket without a file, so it ends with the process that holds it.
 * @param onWait called once if another command has to end first
 */
export const inTurn = async <Result>(
  directory: string,
  onWait: () => void,
  act: () => Promise<Result>,
): Promise<Result> => {
  const name = `\0anima-servers-${createHash('sha256').update(directory).digest('hex').slice(0, 32)}`;
  let held = await listen(name);
  if (held === undefined) {
    onWait();
    await waitUntil(`another command on ${directory} to end`, TURN_LIMIT_MS, async () => {
      held = await listen(name);
      return held !== undefined;
    });
  }
  try {
    return await act();
  } finally {
    held?.close();
  }
};
