import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import type { Server, Site } from './server.js';
import { environmentWithout, keep, run } from './tools.js';

const VERSION = 'v1.5.1';
/** From an empty module cache it takes 3 minutes on two cores. */
const INSTALL_LIMIT_MS = 20 * 60_000;
const READY_LIMIT_MS = 60_000;
const ASK_LIMIT_MS = 10_000;
const NAMESPACE = 'default';
const SEARCH_ATTRIBUTES = ['AnimaTenant', 'AnimaNpcId', 'AnimaProcess'];

/** Twice as fast as with the defaults, and acknowledged writes still survive kill -9. */
const PRAGMAS = ['journal_mode=WAL', 'synchronous=NORMAL'];
const DYNAMIC_CONFIG = [
  'matching.numTaskqueueReadPartitions=1',
  'matching.numTaskqueueWritePartitions=1',
  'system.enableActivityEagerExecution=true',
  'matching.enableFairness=true',
];

const place = (cache: string): string => join(cache, `temporal-${VERSION}`);
const binary = (cache: string): string => join(place(cache), 'temporal');
const address = (site: Site): string => `127.0.0.1:${site.ports[0] ?? 0}`;
const each = (flag: string, values: readonly string[]): string[] => values.flatMap((value) => [flag, value]);

/** The development server of the Temporal CLI, built from its Go module, on a SQLite file. */
export const temporal: Server = {
  name: 'temporal',
  portCount: 3,
  readyLimitMs: READY_LIMIT_MS,
  stopSignal: 'SIGTERM',

  installing: 'downloading and building with Go if missing',
  install: (cache) =>
    keep(place(cache), async (draft) => {
      await run('go', ['install', `github.com/temporalio/cli/cmd/temporal@${VERSION}`], {
        limitMs: INSTALL_LIMIT_MS,
        env: { ...process.env, GOBIN: draft },
        whenMissing: 'temporal is built from its Go module, but "go" is not on the PATH. Install Go 1.25 or newer.',
      });
    }),

  prepare: async (site) => {
    await mkdir(site.directory, { recursive: true });
    const [port, httpPort, metricsPort] = site.ports.map(String);
    return {
      command: binary(site.cache),
      args: [
        ...['server', 'start-dev', '--headless', '--ip', '127.0.0.1', '--log-level', 'warn', '--disable-config-file'],
        ...['--port', port ?? '', '--http-port', httpPort ?? '', '--metrics-port', metricsPort ?? ''],
        ...['--namespace', NAMESPACE, '--db-filename', join(site.directory, 'temporal.db')],
        ...each('--sqlite-pragma', PRAGMAS),
        ...each('--dynamic-config-value', DYNAMIC_CONFIG),
        ...each(
          '--search-attribute',
          SEARCH_ATTRIBUTES.map((name) => `${name}=Keyword`),
        ),
      ],
      env: environmentWithout('TEMPORAL_'),
      cwd: site.directory,
      account: undefined,
    };
  },

  answers: async (site) => {
    const ask = ['operator', 'search-attribute', 'list', '--address', address(site), '--namespace', NAMESPACE];
    const known = await run(binary(site.cache), [...ask, '--disable-config-file'], {
      limitMs: ASK_LIMIT_MS,
      env: environmentWithout('TEMPORAL_'),
    });
    return SEARCH_ATTRIBUTES.every((name) => known.includes(name));
  },

  addresses: async (site) => ({ TEMPORAL_ADDRESS: address(site), TEMPORAL_NAMESPACE: NAMESPACE }),
};
