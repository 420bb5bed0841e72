import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { keepTrackOf } from '../cleanup.js';
import { MAIN, type Server, start } from '../server.js';
import { addresses } from './addresses.js';

const ANIMA = fileURLToPath(new URL('../../src/cli/anima.js', import.meta.url));

/** The processes of the product by role, the owner key of their namespace, and a function that starts another one. */
export type Roles = AsyncDisposable & {
  readonly key: string;
  readonly processes: ReadonlyMap<string, Server>;
  /** The caller must stop it. */
  start(role: string, env?: Readonly<Record<string, string>>): Promise<Server>;
};

/** Starts a process for each role, without a rate limit. @throws Error if one does not start */
export const startRoles = async (namespace: string, dataDir: string, roles: readonly string[]): Promise<Roles> => {
  const env = {
    ...addresses(),
    ANIMA_PROFILE: 'distributed',
    ANIMA_NAMESPACE: namespace,
    ANIMA_SECRET: 'a secret of nobody, for measurements',
    ANIMA_DATA_DIR: dataDir,
    ANIMA_RATE_LIMIT: 'off',
  };
  const bootstrap = spawn(process.execPath, [ANIMA, 'keys', 'bootstrap'], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  keepTrackOf(bootstrap);
  const [code] = (await once(bootstrap, 'exit')) as [number | null];
  if (code !== 0) throw new Error('the owner key could not be made');
  const processes = new Map<string, Server>();
  const stop = async (): Promise<void> => {
    for (const server of processes.values()) await server[Symbol.asyncDispose]();
  };
  try {
    for (const role of roles) processes.set(role, await start(MAIN, { ...env, ANIMA_ROLES: role }));
    return {
      key: (await readFile(join(dataDir, 'owner-key'), 'utf8')).trim(),
      processes,
      start: (role, more = {}) => start(MAIN, { ...env, ...more, ANIMA_ROLES: role }),
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};
