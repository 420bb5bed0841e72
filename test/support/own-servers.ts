import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { ServerName } from '../../scripts/servers/server.js';
import { runServers } from './servers-command.js';
import { temporaryDirectory } from './temporary-directory.js';

/** Servers that belong to one test file, which may do anything with them. Disposing of them stops them and removes their data. */
export type OwnServers = AsyncDisposable & {
  /** Their addresses, by the names of the settings; they never change. */
  readonly env: Readonly<Record<string, string>>;
  /** The directory that holds each server's data. */
  readonly directory: string;
  /** kill -9. */
  kill(name: ServerName): Promise<void>;
  /** Starts a server again on its data and its port; stops it first if it runs. */
  restart(name: ServerName): Promise<void>;
  /** Stops the process, or resumes it: a machine that hangs, with its connections open. */
  hang(name: ServerName, hanging: boolean): Promise<void>;
};

/** How many events of other programs a shared event store holds. */
const FOREIGN = '200000';

/** Starts a set of servers in a new directory. */
export const openServers = (...names: readonly ServerName[]): Promise<OwnServers> => openStarted(names);

/** As `openServers`; the event store has events of other programs. */
export const openSharedServers = (...names: readonly ServerName[]): Promise<OwnServers> =>
  openStarted(['--foreign', FOREIGN, ...names]);

/** As `openServers`, with servers that authenticate their clients. */
export const openGuardedServers = (...names: readonly ServerName[]): Promise<OwnServers> =>
  openStarted(['--guarded', ...names]);

const openStarted = async (words: readonly string[]): Promise<OwnServers> => {
  const temporary = await temporaryDirectory();
  const directory = join(temporary.path, 'servers');
  const run = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await runServers(args, { ANIMA_SERVERS_DIR: directory });
    if (code !== 0) throw new Error(`servers ${args.join(' ')}: ${stdout}${stderr}`);
    return stdout;
  };
  const dispose = async (): Promise<void> => {
    await run('reset');
    await temporary[Symbol.asyncDispose]();
  };
  try {
    await run('start', ...words);
    const lines = (await readFile(join(directory, 'env'), 'utf8')).trim().split('\n');
    const env = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    );
    return {
      env,
      directory,
      kill: async (name) => {
        await run('kill', name);
      },
      restart: async (name) => {
        await run('restart', name);
      },
      hang: async (name, hanging) => {
        const pid = Number(/process (\d+)/.exec(await run('status', name))?.[1]);
        process.kill(pid, hanging ? 'SIGSTOP' : 'SIGCONT');
      },
      [Symbol.asyncDispose]: dispose,
    };
  } catch (failure) {
    await dispose();
    throw failure;
  }
};
