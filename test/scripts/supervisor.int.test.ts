import { once } from 'node:events';
import { createServer, type Server as Listener } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';

import type { Server } from '../../scripts/servers/server.js';
import { Supervisor } from '../../scripts/servers/supervisor.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

const LISTENS = `require('node:net').createServer().listen(Number(process.argv[1]), '127.0.0.1', () => console.log('listens'))`;

describe.runIf(process.platform === 'linux')('a server whose port is taken just before it starts', () => {
  const others: Listener[] = [];
  afterEach(() => {
    for (const other of others.splice(0)) other.close();
  });

  /** A server that listens; others occupy its port that many times. */
  const listening = (taken: number): { readonly server: Server; readonly drawn: readonly number[] } => {
    const drawn: number[] = [];
    const server: Server = {
      name: 'postgres',
      portCount: 1,
      readyLimitMs: 20_000,
      stopSignal: 'SIGTERM',
      installing: 'is there',
      install: async () => undefined,
      prepare: async ({ ports: [port = 0], directory }) => {
        drawn.push(port);
        if (drawn.length <= taken) {
          const other = createServer();
          others.push(other);
          await once(other.listen(port, '127.0.0.1'), 'listening');
        }
        const args = ['-e', LISTENS, String(port)];
        return { command: process.execPath, args, env: process.env, cwd: directory, account: undefined };
      },
      answers: async (_site, { said }) => (await said()).includes('listens'),
      addresses: async ({ ports: [port = 0] }) => ({ DATABASE_URL: String(port) }),
    };
    return { server, drawn };
  };

  it('starts on another one', async () => {
    await using temporary = await temporaryDirectory();
    const supervisor = await Supervisor.open(temporary.path, temporary.path);
    const { server, drawn } = listening(2);
    try {
      await supervisor.start(server, () => undefined);
      expect(new Set(drawn).size).toBe(3);
      expect(supervisor.entry('postgres')?.addresses).toEqual({ DATABASE_URL: String(drawn[2]) });
    } finally {
      await supervisor.discard(server);
    }
  });

  it('is eventually given up', async () => {
    await using temporary = await temporaryDirectory();
    const supervisor = await Supervisor.open(temporary.path, temporary.path);
    const { server, drawn } = listening(3);
    await expect(supervisor.start(server, () => undefined)).rejects.toThrow(/EADDRINUSE/);
    expect(drawn).toHaveLength(3);
    await supervisor.discard(server);
  });
});
