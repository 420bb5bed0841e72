import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { keepTrackOf } from './cleanup.js';

/** How long a server may take to start, to stop, and to bring its read models up to date, in milliseconds. */
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 15_000;
const SETTLE_TIMEOUT_MS = 60_000;
const SETTLE_LOOK_MS = 50;

/** The built server. */
export const MAIN = fileURLToPath(new URL('../src/main.js', import.meta.url));
const ECHO = fileURLToPath(new URL('./echo-server.js', import.meta.url));

/** A server in its own process. Disposing of it stops it. */
export type Server = AsyncDisposable & {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** From the start of the process until it reports that it serves. */
  readonly readyMs: number;
};

/** A server of this build, with its owner key. */
export type MindServer = Server & { readonly key: string };

/** The environment without settings, which must not change the measurement. */
const inherited = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined || name.startsWith('ANIMA_') || name === 'NODE_OPTIONS' ? [] : [[name, value]],
    ),
  );

/**
 * Starts a program and waits for its line that it serves.
 * @throws Error if the process ends, or prints nothing for a minute, before it serves
 */
export const start = async (program: string, env: Readonly<Record<string, string>>): Promise<Server> => {
  const began = performance.now();
  const child = spawn(process.execPath, [program], {
    env: { ...inherited(), HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'info', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  keepTrackOf(child);
  const exited = once(child, 'exit');
  const serving = new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.includes('"msg":"serving"')) resolve((JSON.parse(line) as { url: string }).url);
    });
    const timer = setTimeout(() => reject(new Error(`${program} did not serve in time`)), START_TIMEOUT_MS).unref();
    exited.then(() => {
      clearTimeout(timer);
      reject(new Error(`${program} ended`));
    }, reject);
  });
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await exited;
    clearTimeout(timer);
  };
  try {
    const url = await serving;
    const readyMs = performance.now() - began;
    return { url, port: Number(new URL(url).port), pid: child.pid ?? 0, readyMs, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

/** Starts the built server on a data directory, without a rate limit. @param more environment variables */
export const startMindServer = async (
  dataDir: string,
  more: Readonly<Record<string, string>> = {},
): Promise<MindServer> => {
  const server = await start(MAIN, { ANIMA_DATA_DIR: dataDir, ANIMA_RATE_LIMIT: 'off', ...more });
  return { ...server, key: (await readFile(join(dataDir, 'owner-key'), 'utf8')).trim() };
};

/** Starts the Koa application that is the reference for all measurements over HTTP. */
export const startEchoServer = (): Promise<Server> => start(ECHO, {});

/**
 * Waits until the read models have applied everything, so that this work does not disturb the next measurement.
 * @returns how long that took, in milliseconds
 * @throws Error after a minute
 */
export const settled = async (server: Server): Promise<number> => {
  const began = performance.now();
  while (performance.now() - began < SETTLE_TIMEOUT_MS) {
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    const lag = /^anima_projection_lag_events (\d+)$/m.exec(metrics)?.[1];
    if (lag === undefined) throw new Error('the server does not say how far its read models are behind');
    if (lag === '0') return performance.now() - began;
    await sleep(SETTLE_LOOK_MS);
  }
  throw new Error('the read models stay behind');
};
