import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { Child } from '../support/child.js';
import { runServers } from '../support/servers-command.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

describe.runIf(process.platform === 'linux')('npm run servers', () => {
  it.each([
    { args: [], says: 'A command is missing.' },
    { args: ['stat'], says: 'Unknown command "stat".' },
    {
      args: ['start', 'redis'],
      says: 'Unknown server "redis". The servers are eventstore | temporal | kafka | postgres | ipfs.',
    },
    { args: ['kill'], says: '"kill" needs a server name' },
    { args: ['reset', 'kafka'], says: '"reset" accepts no server names' },
  ])('refuses "$args" as wrong usage', async ({ args, says }) => {
    await using temporary = await temporaryDirectory();
    const { code, stderr } = await runServers(args, { ANIMA_SERVERS_DIR: temporary.path });
    expect(code).toBe(2);
    expect(stderr).toContain(says);
  });

  it.each([
    { name: 'temporal', tool: 'go' },
    { name: 'kafka', tool: 'mvn' },
    { name: 'ipfs', tool: 'go' },
  ])('reports in one message that $name needs $tool', async ({ name, tool }) => {
    await using temporary = await temporaryDirectory();
    const { code, stdout } = await runServers(['start', name], {
      ANIMA_SERVERS_DIR: join(temporary.path, 'servers'),
      ANIMA_SERVERS_CACHE: join(temporary.path, 'cache'),
      PATH: join(temporary.path, 'nothing'),
    });
    expect(code).toBe(1);
    const [first = '', second = ''] = stdout.split('\n');
    expect(first).toMatch(/can take many minutes the first time/);
    expect(second).toMatch(new RegExp(`^${name}: downloading .* \\.\\.\\.$`));
    expect(stdout).toMatch(new RegExp(`^${name}: .* "${tool}" is not on the PATH\\. Install .*\\.$`, 'm'));
  });

  it('installs without starting anything [11.6a]', async () => {
    await using temporary = await temporaryDirectory();
    const directory = join(temporary.path, 'servers');
    const { code, stdout } = await runServers(['install', 'eventstore'], {
      ANIMA_SERVERS_DIR: directory,
      ANIMA_SERVERS_CACHE: join(temporary.path, 'cache'),
    });
    expect(stdout).toMatch(/^eventstore: installed \([\d.]+ s\)$/m);
    expect(code).toBe(0);
    expect((await runServers(['status', 'eventstore'], { ANIMA_SERVERS_DIR: directory })).stdout).toMatch(
      /^eventstore: (?!runs)/m,
    );
  });

  it.each(['install', 'start'])(
    '%s skips optional servers with a message unless they were named [11.6a]',
    async (command) => {
      await using temporary = await temporaryDirectory();
      const env = {
        ANIMA_SERVERS_DIR: join(temporary.path, 'servers'),
        ANIMA_SERVERS_CACHE: join(temporary.path, 'cache'),
        PATH: join(temporary.path, 'nothing'),
      };
      try {
        const { code, stdout } = await runServers([command], env);
        expect(stdout).toMatch(/^ipfs: SKIPPED; .* "go" is not on the PATH\. Install .* \([\d.]+ s\)$/m);
        // The others are required.
        expect(stdout).toMatch(/^temporal: temporal is built .* "go" is not on the PATH\. Install .*\.$/m);
        expect(code).toBe(1);
      } finally {
        await runServers(['reset'], env);
      }
    },
  );

  it('uses an external event store unchanged, and does not kill it', async () => {
    await using temporary = await temporaryDirectory();
    const store = createServer().listen(0, '127.0.0.1');
    await once(store, 'listening');
    const { port } = store.address() as AddressInfo;
    const env = {
      ANIMA_SERVERS_DIR: temporary.path,
      EVENTSTORE_URL: `esdb://127.0.0.1:${port}?tls=false&keepAliveInterval=10000`,
    };
    expect(await runServers(['start', 'eventstore'], env)).toMatchObject({ code: 0 });
    expect(await readFile(join(temporary.path, 'env'), 'utf8')).toBe(`EVENTSTORE_URL='${env.EVENTSTORE_URL}'\n`);
    expect(await runServers(['kill', 'eventstore'], env)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('external'),
    });
    store.close();
  });

  it('refuses an EVENTSTORE_URL where nothing listens', async () => {
    await using temporary = await temporaryDirectory();
    const env = { ANIMA_SERVERS_DIR: temporary.path, EVENTSTORE_URL: 'esdb://admin:secret@127.0.0.1:1?tls=false' };
    expect(await runServers(['start', 'eventstore'], env)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('No server listens at 127.0.0.1:1 '),
    });
  });

  it('does not kill a process that reuses the id of one of its own', async () => {
    await using temporary = await temporaryDirectory();
    await using stranger = new Child(['-e', 'console.log("up"); setInterval(() => {}, 1000)'], {});
    await stranger.waitForLine(/up/);
    const kafka = { ports: [20_000, 20_001], process: { pid: stranger.pid, born: '1' }, addresses: {} };
    await writeFile(join(temporary.path, 'state.json'), JSON.stringify({ format: 1, servers: { kafka } }));
    const env = { ANIMA_SERVERS_DIR: temporary.path };
    expect((await runServers(['status', 'kafka'], env)).stdout).toContain('kafka: dead');
    expect(await runServers(['kill', 'kafka'], env)).toMatchObject({ code: 1 });
    expect(await runServers(['stop'], env)).toMatchObject({ code: 0 });
    expect(stranger.pid === undefined || process.kill(stranger.pid, 0)).toBe(true);
  });

  it('removes nothing from a directory in which it never started anything', async () => {
    await using temporary = await temporaryDirectory();
    await mkdir(join(temporary.path, 'kafka'));
    await writeFile(join(temporary.path, 'kafka', 'notes'), 'mine');
    expect(await runServers(['reset'], { ANIMA_SERVERS_DIR: temporary.path })).toMatchObject({ code: 0 });
    expect(await readFile(join(temporary.path, 'kafka', 'notes'), 'utf8')).toBe('mine');
  });
});
