import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chown, mkdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import pg from 'pg';

import { dataDirectoryFor, unprivilegedAccount } from './accounts.js';
import { installPostgres, postgresBinaries } from './postgres-binaries.js';
import { isInUse } from './processes.js';
import type { Server, Site } from './server.js';
import { environmentWithout, run } from './tools.js';
import { waitUntil } from './waiting.js';

const INITDB_LIMIT_MS = 2 * 60_000;
const READY_LIMIT_MS = 60_000;
const ASK_LIMIT_MS = 5_000;
/** How long the remaining processes of a killed server may take to notice, in milliseconds. */
const LEFTOVER_LIMIT_MS = 30_000;
const USER = 'anima';
const DATABASE = 'anima';
/** Enough for the pools of a few roles and of the tests. */
const MAX_CONNECTIONS = 300;

const passwordFile = (site: Site): string => join(site.directory, 'password');

const password = async (site: Site): Promise<string> => {
  const file = passwordFile(site);
  if (!existsSync(file)) await writeFile(file, randomBytes(16).toString('hex'), { mode: 0o600 });
  return readFile(file, 'utf8');
};

const url = async (site: Site, database: string): Promise<string> =>
  `postgres://${USER}:${await password(site)}@127.0.0.1:${site.ports[0] ?? 0}/${database}`;

const environment = (): NodeJS.ProcessEnv => ({ ...environmentWithout('PG'), LC_ALL: 'C' });

const initialise = async (site: Site, data: string): Promise<void> => {
  const account = await unprivilegedAccount();
  const draft = `${data}.part`;
  const secret = `${data}.password`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true, mode: 0o700 });
  await writeFile(secret, await password(site), { mode: 0o600 });
  try {
    if (account !== undefined) {
      await chown(draft, account.uid, account.gid);
      await chown(secret, account.uid, account.gid);
    }
    await run(
      join(await postgresBinaries(site.cache), 'initdb'),
      [
        ...['--pgdata', draft, '--username', USER, '--pwfile', secret],
        ...['--auth', 'scram-sha-256', '--encoding', 'UTF8', '--locale', 'C'],
      ],
      { limitMs: INITDB_LIMIT_MS, env: environment(), cwd: '/', account },
    );
    // Renamed when it is complete: an interrupted initdb leaves a directory that looks complete.
    await rename(draft, data);
  } finally {
    await rm(secret, { force: true });
  }
};

/**
 * Removes the lock file of a server that was killed. PostgreSQL checks the process number in it. That number stays taken until a parent has collected
 * the ended process, which in a container may never happen.
 */
const forgetKilled = async (data: string): Promise<void> => {
  const mark = join(data, 'postmaster.pid');
  if (!existsSync(mark)) return;
  const place = await realpath(data);
  await waitUntil(`the last processes in ${data} to end`, LEFTOVER_LIMIT_MS, async () => !(await isInUse(place)));
  await rm(mark, { force: true });
};

/** One client's connection for one query, aborted after its limit. */
const ask = async (address: string, sql: string): Promise<readonly Record<string, unknown>[]> => {
  const client = new pg.Client({
    connectionString: address,
    connectionTimeoutMillis: ASK_LIMIT_MS,
    query_timeout: ASK_LIMIT_MS,
  });
  // An error of an idle connection is reported to the next query.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
};

/** PostgreSQL only on loopback TCP, with its own password, run by an unprivileged account. */
export const postgres: Server = {
  name: 'postgres',
  portCount: 1,
  readyLimitMs: READY_LIMIT_MS,
  // Fast shutdown: clients are disconnected, nothing needs to be recovered.
  stopSignal: 'SIGINT',

  installing: 'downloading with npm if missing',
  install: installPostgres,

  prepare: async (site) => {
    await mkdir(site.directory, { recursive: true });
    const data = await dataDirectoryFor(site);
    if (!existsSync(join(data, 'PG_VERSION'))) await initialise(site, data);
    await forgetKilled(data);
    return {
      command: join(await postgresBinaries(site.cache), 'postgres'),
      args: [
        ...['-D', data, '-p', String(site.ports[0] ?? 0), '-c', 'listen_addresses=127.0.0.1'],
        ...['-c', 'unix_socket_directories=', '-c', `max_connections=${MAX_CONNECTIONS}`],
      ],
      env: environment(),
      cwd: '/',
      account: await unprivilegedAccount(),
    };
  },

  answers: async (site, started) => {
    const [row] = await ask(await url(site, 'postgres'), 'SHOW data_directory');
    const data = await dataDirectoryFor(site);
    const [pid] = (await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n');
    if (row?.['data_directory'] !== data || Number(pid) !== started.pid) return false;
    const found = await ask(await url(site, 'postgres'), `SELECT 1 FROM pg_database WHERE datname = '${DATABASE}'`);
    if (found.length === 0) await ask(await url(site, 'postgres'), `CREATE DATABASE ${DATABASE}`);
    return true;
  },

  elsewhere: async (site) => [await dataDirectoryFor(site)],

  addresses: async (site) => ({ DATABASE_URL: await url(site, DATABASE) }),
};
