import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from 'vitest';

import { built } from '../support/built.js';
import { openSocket } from '../support/sockets.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

const IN_TERMINAL = fileURLToPath(new URL('../support/in-terminal.py', import.meta.url));
const hasTerminal = spawnSync('python3', ['-c', 'import pty']).status === 0;
if (!hasTerminal) console.warn('Ctrl-C in a pseudo-terminal is not tested: there is no python3.');

type Stopping = {
  readonly start: (env: NodeJS.ProcessEnv) => ChildProcess;
  readonly stop: (child: ChildProcess) => void;
};

const npmStart = ['npm', 'start', '--silent'] as const;
const ways: Readonly<Record<string, Stopping>> = {
  'a process group': {
    start: (env) => spawn(npmStart[0], npmStart.slice(1), { env, detached: true }),
    stop: ({ pid = 0 }) => process.kill(-pid, 'SIGINT'),
  },
  ...(hasTerminal && {
    'a terminal': {
      start: (env) => spawn('python3', [IN_TERMINAL, ...npmStart], { env, detached: true }),
      stop: ({ stdin }) => stdin?.write('\u0003'),
    },
  }),
};

describe('Ctrl-C on npm start', () => {
  it.each(Object.keys(ways))('in %s lets running requests end, and exits with 0 [11.2a, 11.3b, 11.3c]', async (way) => {
    built('src/main.js');
    const { start, stop } = ways[way] as Stopping;
    await using directory = await temporaryDirectory();
    const child = start({ ...process.env, ANIMA_DATA_DIR: directory.path, PORT: '0' });
    let said = '';
    for (const output of [child.stdout, child.stderr]) output?.on('data', (text: Buffer) => (said += text.toString()));
    const ended = once(child, 'close');
    try {
      await expect.poll(() => said, { timeout: 90_000 }).toMatch(/http:\/\/127\.0\.0\.1:\d+/);
      const port = Number(/http:\/\/127\.0\.0\.1:(\d+)/.exec(said)?.[1]);
      const key = (await readFile(join(directory.path, 'owner-key'), 'utf8')).trim();
      // The key is shown only on a terminal.
      expect(said.includes(key)).toBe(way === 'a terminal');
      expect(said.includes(`"file":${JSON.stringify(join(directory.path, 'owner-key'))}`)).toBe(way !== 'a terminal');
      const body = JSON.stringify({ observation: 'A stranger knocks.' });
      const socket = await openSocket(port);
      let answer = '';
      socket.on('data', (text: Buffer) => (answer += text.toString()));
      socket.write(
        `POST /npcs/mira/directive HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${String(body.length)}\r\n\r\n${body.slice(0, 5)}`,
      );
      await expect.poll(async () => (await fetch(`http://127.0.0.1:${String(port)}/livez`)).status).toBe(200);
      stop(child);
      await expect
        .poll(async () => (await fetch(`http://127.0.0.1:${String(port)}/npcs`)).status, { timeout: 30_000 })
        .toBe(503);
      socket.write(body.slice(5));
      await expect.poll(() => answer, { timeout: 30_000 }).toMatch(/^HTTP\/1\.1 2\d\d .*connection: close/is);
      expect(await ended, said).toEqual([0, null]);
    } finally {
      if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    }
  });
});
