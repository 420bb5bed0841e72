import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { EventStoreDb } from '../../src/adapters/eventstore/event-store.js';
import type { OpenServer } from '../scenarios/server-under-test.js';
import { assertWholeChains } from './chains.js';
import { assertSameDecisions } from './replays.js';
import { type Child, startBuilt } from './child.js';
import { type Addresses, distEnv, randomNamespace } from './dist-env.js';
import { temporaryDirectory } from './temporary-directory.js';

/** How long a server may take until it is ready, in milliseconds, and how often it is checked. */
const READY_LIMIT_MS = 30_000;
const READY_LOOK_MS = 100;

const SECRET = 'a secret that every server of one test shares';

type Env = Readonly<Record<string, string>>;
/** A serving process and its address. */
export type ServingProcess = { readonly child: Child; readonly url: string };

/**
 * A namespace with its owner key, and as many processes in it as a test starts. Disposing of it kills the remaining processes and checks that every
 * chain is intact. The event store must be up then.
 */
export type Namespace = AsyncDisposable & {
  readonly ownerKey: string;
  readonly dataDir: string;
  /** The environment of its processes. */
  readonly settings: Addresses & { readonly ANIMA_NAMESPACE: string };
  /** Everything that its servers have printed so far. */
  readonly output: string;
  /** Starts a process with these roles (ANIMA_ROLES) without waiting for it. */
  launch(roles: string, env?: Env): Child;
  /** Starts a process with these roles and waits until it listens. */
  start(roles: string, env?: Env): Promise<ServingProcess>;
};

/** Opens a new namespace on the servers of this run, or on those that `env` names. The event store must be up. */
export const openNamespace = async (env: Env = {}): Promise<Namespace> => {
  const directory = await temporaryDirectory();
  const settings = {
    ...distEnv(),
    ANIMA_NAMESPACE: randomNamespace(),
    ANIMA_PROFILE: 'distributed',
    ANIMA_SECRET: SECRET,
    ANIMA_DATA_DIR: directory.path,
    ANIMA_RATE_LIMIT: 'off',
    LOG_LEVEL: 'info',
    PORT: '0',
    ...env,
  };
  const bootstrap = startBuilt('src/cli/anima.js', { args: ['keys', 'bootstrap'], env: settings });
  const { code } = await bootstrap.exited();
  if (code !== 0) throw new Error(`the owner key could not be made: ${bootstrap.stderr}`);
  const ownerKey = (await readFile(join(directory.path, 'owner-key'), 'utf8')).trim();
  const children = [bootstrap];
  const launch = (roles: string, more: Env = {}): Child => {
    const child = startBuilt('src/main.js', { env: { ...settings, ANIMA_ROLES: roles, ...more } });
    children.push(child);
    return child;
  };
  return {
    ownerKey,
    dataDir: directory.path,
    settings,
    get output() {
      return children
        .filter((child) => child !== bootstrap)
        .map(({ stdout, stderr }) => stdout + stderr)
        .join('');
    },
    launch,
    start: async (roles, more) => {
      const child = launch(roles, more);
      return { child, url: await urlOf(child) };
    },
    [Symbol.asyncDispose]: async () => {
      for (const child of children) await child.kill();
      await directory[Symbol.asyncDispose]();
      const { EVENTSTORE_URL: url, ANIMA_NAMESPACE: name } = settings;
      await using events = new EventStoreDb({ url, namespace: name, listOpen: () => Promise.resolve([]) });
      await assertSameDecisions(events, await assertWholeChains(events));
    },
  };
};

/** The address of a process, once it listens. */
export const urlOf = async (child: Child): Promise<string> =>
  (JSON.parse(await child.waitForLine(/"msg":"serving"/)) as { url: string }).url;

/**
 * Waits until the server reports that it is ready, as a load balancer would. While it starts its worker it may be too busy to hear from its dependencies
 * in time, and answers 503. After a while the caller sees the cause of the delay.
 */
const untilReady = async (url: string): Promise<void> => {
  const late = performance.now() + READY_LIMIT_MS;
  while (performance.now() < late) {
    if ((await fetch(`${url}/readyz`)).ok) return;
    await new Promise((resolve) => setTimeout(resolve, READY_LOOK_MS));
  }
};

/** A server of the distributed profile with every role in one process, on the real engines, in its own namespace. */
export const openDistributedServer: OpenServer = async (env = {}) => {
  // Many servers share a few cores in a test run: scenarios test the contents of lists, not their delay.
  const namespace = await openNamespace({ ANIMA_READ_WAIT_MS: '10000', ...env });
  const start = () => namespace.start(env['ANIMA_ROLES'] ?? '');
  let running = await start();
  const halt = async (): Promise<void> => {
    running.child.signal('SIGTERM');
    const ended = await running.child.exited();
    if (ended.code !== 0) throw new Error(`the server ended with ${String(ended.code)}: ${running.child.stderr}`);
  };
  return {
    get url() {
      return running.url;
    },
    ownerKey: namespace.ownerKey,
    dataDir: namespace.dataDir,
    get output() {
      return namespace.output;
    },
    restart: async (how) => {
      if (how === 'kill') await running.child.kill();
      else await halt();
      running = await start();
      await untilReady(running.url);
    },
    halt,
    [Symbol.asyncDispose]: () => namespace[Symbol.asyncDispose](),
  };
};
