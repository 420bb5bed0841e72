import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Server, Site } from './server.js';

const READY_LIMIT_MS = 60_000;
const ASK_LIMIT_MS = 5_000;
const DEFAULT_PORT = '2113';
const HOOKS = fileURLToPath(new URL('../../test/support/typescript-hooks.mjs', import.meta.url));
const STAND_IN = fileURLToPath(new URL('../../test/stand-in/main.ts', import.meta.url));

const port = (site: Site): string => String(site.ports[0] ?? 0);

const accepts = (host: string, to: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port: to, timeout: ASK_LIMIT_MS });
    const settle = (result: boolean): void => {
      socket.destroy();
      resolve(result);
    };
    socket.once('error', () => settle(false));
    socket.once('timeout', () => settle(false));
    socket.once('connect', () => settle(true));
  });

/**
 * Checks that a server listens at a connection string of EventStoreDB (one host or several).
 * @throws Error if none does
 */
export const checkStoreAt = async (url: string): Promise<void> => {
  const [, hosts = ''] = /^\w+(?:\+discover)?:\/\/(?:[^@/]*@)?([^/?]+)/.exec(url) ?? [];
  const found = await Promise.all(
    hosts.split(',').map((each) => {
      const [, host = '', to = DEFAULT_PORT] = /^(.*?)(?::(\d+))?$/.exec(each) ?? [];
      return accepts(host, Number(to));
    }),
  );
  if (!found.includes(true)) {
    throw new Error(
      hosts === ''
        ? 'EVENTSTORE_URL names no server. Unset it to start the stand-in.'
        : `No server listens at ${hosts} (EVENTSTORE_URL). Unset it to start the stand-in.`,
    );
  }
};

/** The stand-in that speaks EventStoreDB's protocol, because no registry has a binary of the database itself. */
export const eventstore: Server = {
  name: 'eventstore',
  portCount: 1,
  readyLimitMs: READY_LIMIT_MS,
  stopSignal: 'SIGTERM',

  installing: 'looking for the stand-in',
  install: async () => {
    if (!existsSync(STAND_IN))
      throw new Error(`${STAND_IN} does not exist. Set EVENTSTORE_URL to the address of an EventStoreDB.`);
  },

  prepare: async (site) => {
    const data = join(site.directory, 'data');
    await mkdir(data, { recursive: true });
    return {
      command: process.execPath,
      args: ['--import', HOOKS, STAND_IN, '--port', port(site), '--data', data, '--foreign', String(site.foreign)],
      env: process.env,
      cwd: site.directory,
      account: undefined,
    };
  },

  answers: async (site, started) => /listening/i.test(await started.said()) && accepts('127.0.0.1', site.ports[0] ?? 0),

  addresses: async (site) => ({ EVENTSTORE_URL: `esdb://127.0.0.1:${port(site)}?tls=false` }),
};
