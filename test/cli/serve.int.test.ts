import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { openDataDirectory } from '../../src/adapters/embedded/data-directory.js';
import { ONE_STOP_MS } from '../../src/adapters/system/stop-signals.js';
import { type Child, startBuilt } from '../support/child.js';
import { closeSockets, openSocket } from '../support/sockets.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

describe('anima serve', () => {
  let temporary: Awaited<ReturnType<typeof temporaryDirectory>>;
  let dataDir: string;
  beforeEach(async () => {
    temporary = await temporaryDirectory();
    dataDir = join(temporary.path, 'data');
  });
  afterEach(async () => {
    closeSockets();
    await temporary[Symbol.asyncDispose]();
  });

  const serve = (env: Readonly<Record<string, string>> = {}): Child =>
    startBuilt('src/cli/anima.js', { args: ['serve'], env: { PORT: '0', ANIMA_DATA_DIR: dataDir, ...env } });
  /** Its only output is this message. */
  const refusesWith = async (message: string, env?: Readonly<Record<string, string>>): Promise<void> => {
    await using server = serve(env);
    expect(await server.exited()).toEqual({ code: 1, signal: null });
    expect([server.stderr, server.stdout]).toEqual([`${message}\n`, '']);
  };

  it('exits with one message and code 1 when the port is in use, and creates nothing [11.3e]', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const port = String((taken.address() as AddressInfo).port);
    await refusesWith(
      `Cannot listen: port ${port} on 127.0.0.1 is already in use. Stop the other program, or set PORT to another port.`,
      { PORT: port },
    );
    taken.close();
    expect(await readdir(temporary.path)).toEqual([]);
  });

  it('exits with one message and code 1 when another process has the data directory open, and changes nothing [11.3e]', async () => {
    using _open = await openDataDirectory(dataDir);
    const before = await readdir(dataDir);
    await refusesWith(`The data directory ${dataDir} is already open in another process. Stop that process first.`);
    expect(await readdir(dataDir)).toEqual(before);
  });

  it('exits with one message and code 1 when the data directory is not writable, and changes nothing [11.3e]', async () => {
    // Root may write everywhere except below /proc, where nothing can be created.
    if (process.getuid?.() === 0) {
      await refusesWith(
        'The data directory /proc/nope/below cannot be made (ENOENT). Set ANIMA_DATA_DIR to a directory that you can write to.',
        { ANIMA_DATA_DIR: '/proc/nope/below' },
      );
      return;
    }
    await mkdir(dataDir);
    await chmod(dataDir, 0o500);
    await using server = serve();
    expect(await server.exited()).toEqual({ code: 1, signal: null });
    expect([server.stderr.split('\n').length, server.stdout]).toEqual([2, '']);
    expect(server.stderr).toContain('cannot be written');
    expect(await readdir(dataDir)).toEqual([]);
  });

  it('exits with code 1 when settings are invalid, names all of them, and creates nothing [11.1a]', async () => {
    await using server = serve({ PORT: 'x', LOG_LEVEL: 'loud' });
    expect(await server.exited()).toEqual({ code: 1, signal: null });
    expect([server.stderr.match(/^\w+/gm), server.stdout]).toEqual([['PORT', 'LOG_LEVEL'], '']);
    expect(await readdir(temporary.path)).toEqual([]);
  });

  it('warns in its log of unknown variables like settings, and serves as without them [11.1b]', async () => {
    await using server = serve({ ANIMA_RATELIMIT: 'off', ANIMA_EMPTY: '' });
    const warned = JSON.parse(await server.waitForLine(/unknown settings/)) as object;
    expect(warned).toMatchObject({ level: 40, settings: ['ANIMA_RATELIMIT'] });
    const { url } = JSON.parse(await server.waitForLine(/"msg":"serving"/)) as { readonly url: string };
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect(server.stderr).toBe('');
  });

  it('logs when it stops, and when it has stopped [11.3b]', async () => {
    await using server = serve();
    await server.waitForLine(/"msg":"serving"/);
    server.signal('SIGTERM');
    expect(await server.exited()).toEqual({ code: 0, signal: null });
    expect(server.stdout).toMatch(/"msg":"Stopping"\}\n(.*\n)*?.*"msg":"Stopped"\}\n$/);
  });

  it('ends with code 1 at a second signal, even while a request runs [11.3c]', async () => {
    await using server = serve();
    const { url } = JSON.parse(await server.waitForLine(/"msg":"serving"/)) as { readonly url: string };
    const key = (await readFile(join(dataDir, 'owner-key'), 'utf8')).trim();
    const socket = await openSocket(Number(new URL(url).port));
    socket.write(
      `POST /npcs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{`,
    );
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    const stop = () => process.kill(server.pid ?? expect.fail(), 'SIGTERM');
    stop();
    await server.waitForLine(/"msg":"Stopping"/);
    await new Promise((resolve) => setTimeout(resolve, ONE_STOP_MS + 50));
    stop();
    expect(await server.exited()).toEqual({ code: 1, signal: null });
  });
});
