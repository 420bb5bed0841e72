import { spawn, type ChildProcess } from 'node:child_process';
import { createServer, type AddressInfo } from 'node:net';

import type { MindRequest } from '../../body/mind-request.js';
import type { Environment } from '../../config/env.js';
import { StartProblem } from '../../kernel/base/start-problem.js';

export type StartedServer = { readonly url: string; readonly pid: number; stop(): Promise<void> };

export type StartOptions = {
  /** The arguments of Node: the compiled server. */
  readonly program: readonly string[];
  /** The server's environment, to which HOST and PORT are added. */
  readonly env: Environment;
  /** Relative paths start here. */
  readonly cwd: string;
  /** The address where no server answered. */
  readonly lookedAt: string;
  readonly requestTo: (url: string) => MindRequest;
  readonly sleep: (ms: number) => Promise<void>;
  readonly signal: AbortSignal;
};

const LOOPBACK = '127.0.0.1';
const READY_POLL_MS = 100;
/** A start resumes open turns and checks the store, which can take a minute. */
const MAX_READY_POLLS = 600;
/** A stopping server finishes running requests within 10 s. */
const STOP_WAIT_MS = 12_000;
const TAKEN = /^The data directory (.+) is already open in another process/m;
const KEPT_STDERR_CHARS = 4_000;

/** Whether an Anima server answers there. */
export const isServing = async (request: MindRequest): Promise<boolean> => {
  try {
    const status = await request('GET', '/status');
    return typeof status === 'object' && status !== null && 'status' in status && status.status === 'online';
  } catch {
    return false;
  }
};

/** A port that was free a moment ago. If another program takes it first, the server fails to start with a clear message. */
const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, LOOPBACK, () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => {
        resolve(port);
      });
    });
  });

const ended = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

const stopChild = async (child: ChildProcess): Promise<void> => {
  if (child.pid === undefined || ended(child)) return;
  const exit = new Promise<void>((resolve) => {
    child.once('exit', () => {
      resolve();
    });
  });
  child.kill('SIGTERM');
  const killer = setTimeout(() => child.kill('SIGKILL'), STOP_WAIT_MS);
  await exit;
  clearTimeout(killer);
};

const isReady = async (request: MindRequest): Promise<boolean> => {
  try {
    await request('GET', '/readyz');
    return true;
  } catch {
    return false;
  }
};

/**
 * Starts a server as a child process on a free loopback port and waits until it is ready. It has its own process group, so an interrupt at the
 * terminal reaches only the demo, which then stops the server.
 * @throws StartProblem with the server's own message when it ends before it is ready
 */
export const startDemoServer = async (options: StartOptions): Promise<StartedServer> => {
  const port = await freePort();
  const url = `http://${LOOPBACK}:${String(port)}`;
  const child = spawn(process.execPath, [...options.program], {
    cwd: options.cwd,
    env: { ...options.env, HOST: LOOPBACK, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: process.platform !== 'win32',
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-KEPT_STDERR_CHARS);
  });
  child.once('error', (error) => {
    said += error.message;
  });
  const kill = (): void => {
    child.kill('SIGKILL');
  };
  process.once('exit', kill);
  const stop = async (): Promise<void> => {
    await stopChild(child);
    process.removeListener('exit', kill);
  };

  const request = options.requestTo(url);
  for (let poll = 0; poll < MAX_READY_POLLS && !options.signal.aborted; poll += 1) {
    if (child.pid === undefined || ended(child)) break;
    if (await isReady(request)) return { url, pid: child.pid, stop };
    await options.sleep(READY_POLL_MS);
  }
  await stop();
  if (options.signal.aborted) throw new StartProblem('Interrupted.');
  const taken = TAKEN.exec(said)?.[1];
  if (taken !== undefined)
    throw new StartProblem(
      `No server answers at ${options.lookedAt}, and another server is using the data directory ${taken}. ` +
        'If that server listens on another port, run: ANIMA_URL=http://127.0.0.1:<port> npm run demo',
    );
  throw new StartProblem(said.trim() === '' ? 'The server that the demo started did not become ready.' : said.trim());
};
