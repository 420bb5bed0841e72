import { setTimeout as sleep } from 'node:timers/promises';

import { type Api, apiOf } from '../../support/api.js';
import { type Namespace, openNamespace } from '../../support/distributed-server.js';
import { openEmbeddedServer } from '../../support/embedded-server.js';
import { type OwnServers, openServers } from '../../support/own-servers.js';

/** How long Temporal stays down when it was killed, in milliseconds. */
const AWAY_MS = 2_000;

/** A server that is killed with -9 and started again on its data; resolves when it runs again. */
export type Victim = { readonly name: string; killAndRestart(): Promise<void> };

/** The servers of a trial. Disposing of them checks that every chain is intact. */
export type TrialServers = AsyncDisposable & { api(): Api; readonly victims: readonly [Victim, ...Victim[]] };
type Env = Readonly<Record<string, string>>;

const openEmbedded = async (env: Env): Promise<TrialServers> => {
  const server = await openEmbeddedServer(env);
  return {
    api: () => apiOf(server.url, server.ownerKey),
    victims: [{ name: 'server', killAndRestart: () => server.restart('kill') }],
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
};

const startRoles = async (namespace: Namespace, name: string, roles: string) => {
  let running = await namespace.start(roles);
  const killAndRestart = async (): Promise<void> => {
    await running.child.kill();
    running = await namespace.start(roles);
  };
  return { name, killAndRestart, url: () => running.url };
};

const temporalOf = (servers: OwnServers): Victim => ({
  name: 'Temporal',
  killAndRestart: async () => {
    await servers.kill('temporal');
    await sleep(AWAY_MS);
    await servers.restart('temporal');
  },
});

/** A separate Temporal, which nothing else uses; the other servers are those of this run. */
const openDistributed = async (env: Env): Promise<TrialServers> => {
  const servers = await openServers('temporal');
  try {
    const namespace = await openNamespace({ ...servers.env, ...env });
    const http = await startRoles(namespace, 'http', 'http,projector,relay');
    const worker1 = await startRoles(namespace, 'worker 1', 'worker');
    const worker2 = await startRoles(namespace, 'worker 2', 'worker');
    return {
      api: () => apiOf(http.url(), namespace.ownerKey),
      victims: [http, worker1, worker2, temporalOf(servers)],
      [Symbol.asyncDispose]: async () => {
        try {
          await namespace[Symbol.asyncDispose]();
        } finally {
          await servers[Symbol.asyncDispose]();
        }
      },
    };
  } catch (error) {
    await servers[Symbol.asyncDispose]();
    throw error;
  }
};

export const openTrialServers = { embedded: openEmbedded, distributed: openDistributed } as const;
