import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Server, Site } from './server.js';
import { environmentWithout, keep, run } from './tools.js';

const VERSION = 'v0.40.1';
/** From an empty module cache it takes 3 minutes on two cores. */
const INSTALL_LIMIT_MS = 20 * 60_000;
const INIT_LIMIT_MS = 30_000;
const READY_LIMIT_MS = 60_000;
const ASK_LIMIT_MS = 5_000;

const place = (cache: string): string => join(cache, `kubo-${VERSION}`);
const binary = (cache: string): string => join(place(cache), 'ipfs');
const repository = (site: Site): string => join(site.directory, 'repository');
const configFile = (site: Site): string => join(repository(site), 'config');
const loopback = (port: number | undefined): string => `/ip4/127.0.0.1/tcp/${String(port ?? 0)}`;
const url = (port: number | undefined): string => `http://127.0.0.1:${String(port ?? 0)}`;
/** Disables Kubo's telemetry. */
const environment = (site: Site): NodeJS.ProcessEnv => ({
  ...environmentWithout('IPFS_'),
  IPFS_PATH: repository(site),
  IPFS_TELEMETRY: 'off',
});

/** A separate module that needs only Kubo: `go install` would request the list of Kubo's versions, which not every proxy has. */
const GO_MOD = `module anima/kubo\n\ngo 1.25\n\nrequire github.com/ipfs/kubo ${VERSION}\n`;

type Settings = Readonly<Record<string, unknown>> & { readonly Identity: { readonly PeerID: string } };
const readSettings = async (site: Site): Promise<Settings> =>
  JSON.parse(await readFile(configFile(site), 'utf8')) as Settings;

/** Kubo, the usual IPFS node, alone: it listens on loopback, knows no other node and looks for none. */
export const ipfs: Server = {
  name: 'ipfs',
  portCount: 2,
  readyLimitMs: READY_LIMIT_MS,
  stopSignal: 'SIGTERM',
  optional: true,

  installing: 'downloading and building with Go if missing',
  install: (cache) =>
    keep(place(cache), async (draft) => {
      await writeFile(join(draft, 'go.mod'), GO_MOD);
      await run('go', ['build', '-mod=mod', '-trimpath', '-o', 'ipfs', 'github.com/ipfs/kubo/cmd/ipfs'], {
        limitMs: INSTALL_LIMIT_MS,
        cwd: draft,
        whenMissing: 'ipfs is built from its Go module, but "go" is not on the PATH. Install Go 1.25 or newer.',
      });
    }),

  prepare: async (site) => {
    const [api, gateway] = site.ports;
    const command = binary(site.cache);
    await mkdir(repository(site), { recursive: true });
    if (!existsSync(configFile(site))) {
      const init = ['init', '--empty-repo', '--profile', 'test'];
      await run(command, init, { limitMs: INIT_LIMIT_MS, env: environment(site) });
    }
    const Addresses = { API: loopback(api), Gateway: loopback(gateway), Swarm: [] };
    await writeFile(configFile(site), JSON.stringify({ ...(await readSettings(site)), Addresses }));
    return {
      command,
      args: ['daemon', '--offline', '--migrate=false'],
      env: environment(site),
      cwd: site.directory,
      account: undefined,
    };
  },

  answers: async (site) => {
    const signal = AbortSignal.timeout(ASK_LIMIT_MS);
    const answer = await fetch(`${url(site.ports[0])}/api/v0/id`, { method: 'POST', signal });
    const { ID: id } = (await answer.json()) as { readonly ID?: string };
    return id === (await readSettings(site)).Identity.PeerID;
  },

  addresses: async (site) => ({
    IPFS_API_URL: url(site.ports[0]),
    IPFS_GATEWAY_URL: `${url(site.ports[1])}/ipfs`,
  }),
};
