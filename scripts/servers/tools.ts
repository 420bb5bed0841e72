import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

import type { Account } from './server.js';

/** How much of a failed command's output is repeated, in characters. */
const SAID_LIMIT = 2_000;

/** The environment without the variables with this prefix, which are meant for other programs but which a program would read as settings. */
export const environmentWithout = (prefix: string): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith(prefix)));

export type RunOptions = {
  /** The command is killed after this many milliseconds. */
  readonly limitMs: number;
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly account?: Account | undefined;
  /** The message if the command is missing. */
  readonly whenMissing?: string;
};

const failure = (command: string, reason: string, said: string): Error =>
  new Error(`${command} ${reason}${said === '' ? '' : `:\n${said.slice(-SAID_LIMIT).trim()}`}`);

/**
 * Runs a command to its end and resolves with its standard output.
 * @throws Error if it is missing (`whenMissing`), fails, or takes longer than its limit; the message ends with its last output
 */
export const run = (command: string, args: readonly string[], options: RunOptions): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: options.env ?? process.env,
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      ...options.account,
    });
    // Not spawn's own timeout: that one continues if the command could not be started, and keeps this program from ending.
    let late = false;
    const limit = setTimeout(() => {
      late = true;
      child.kill('SIGKILL');
      // Its own children may hold them open.
      child.stdout.destroy();
      child.stderr.destroy();
    }, options.limitMs);
    let output = '';
    let complaints = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (complaints += text));
    child.once('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(limit);
      const missing = error.code === 'ENOENT' && options.whenMissing !== undefined;
      reject(missing ? new Error(options.whenMissing) : failure(command, `cannot be started: ${error.message}`, ''));
    });
    child.once('close', (code, signal) => {
      clearTimeout(limit);
      const reason = late
        ? `was killed after ${options.limitMs / 1000} s`
        : `failed with ${signal ?? `exit code ${code ?? '?'}`}`;
      if (code === 0) resolve(output);
      else reject(failure(command, reason, complaints + output));
    });
  });

/**
 * Fills a path of the cache once. The content is written to another path and then renamed, so that it is always complete, even after an interrupt or
 * with several concurrent installations.
 */
export const keep = async (place: string, fill: (draft: string) => Promise<void>): Promise<void> => {
  if (existsSync(place)) return;
  const draft = `${place}.${randomUUID()}.part`;
  await mkdir(draft, { recursive: true });
  try {
    await fill(draft);
    await mkdir(dirname(place), { recursive: true });
    await rename(draft, place).catch((error: unknown) => {
      if (!existsSync(place)) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
};
