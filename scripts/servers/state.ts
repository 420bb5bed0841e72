import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Identity } from './processes.js';
import { SERVER_NAMES, type ServerName } from './server.js';

/** The stored state of one server between two commands. */
export type Entry = {
  /** Kept while the server is stopped, so that it returns to the ports that its clients use. Empty: the server is external. */
  readonly ports: readonly number[];
  /** The process that was started last; undefined if it was stopped gracefully. */
  readonly process?: Identity;
  /** Names and values for `env`; empty while it is stopped. */
  readonly addresses: Readonly<Record<string, string>>;
};

export type State = Readonly<Partial<Record<ServerName, Entry>>>;

const FORMAT = 1;
const stateFile = (directory: string): string => join(directory, 'state.json');
export const environmentFile = (directory: string): string => join(directory, 'env');

/** Reads what an earlier command wrote; empty if there is none. */
export const readState = async (directory: string): Promise<State> => {
  if (!existsSync(stateFile(directory))) return {};
  const { format, servers } = JSON.parse(await readFile(stateFile(directory), 'utf8')) as {
    readonly format: unknown;
    readonly servers: State;
  };
  if (format !== FORMAT) throw new Error(`${stateFile(directory)} was written by a different version`);
  return servers;
};

/** Whether a directory was made by an earlier command: only then may anything in it be removed. */
export const hasState = (directory: string): boolean => existsSync(stateFile(directory));

/** Removes the state and `env`, and the directory if that leaves it empty. */
export const forgetState = async (directory: string): Promise<void> => {
  await rm(environmentFile(directory), { force: true });
  await rm(stateFile(directory), { force: true });
  await rmdir(directory).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
  });
};

const replace = async (file: string, text: string): Promise<void> => {
  await writeFile(`${file}.part`, text, { mode: 0o600 });
  await rename(`${file}.part`, file);
};

/** One line of `env`, quoted for a shell where needed. */
const line = ([name, value]: readonly [string, string]): string =>
  /^[\w@%+=:,./?-]*$/.test(value) ? `${name}=${value}` : `${name}='${value.replaceAll("'", `'\\''`)}'`;

/** Writes the state, and `env` from it; without addresses there is no `env`. */
export const writeState = async (directory: string, state: State): Promise<void> => {
  await mkdir(directory, { recursive: true });
  await replace(stateFile(directory), `${JSON.stringify({ format: FORMAT, servers: state }, null, 2)}\n`);
  const lines = SERVER_NAMES.flatMap((name) => Object.entries(state[name]?.addresses ?? {}).map(line));
  if (lines.length === 0) await rm(environmentFile(directory), { force: true });
  else await replace(environmentFile(directory), `${lines.join('\n')}\n`);
};
