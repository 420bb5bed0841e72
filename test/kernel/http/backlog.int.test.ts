import { existsSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';

import { expect, it } from 'vitest';

import { startBuilt } from '../../support/child.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

const SOMAXCONN = '/proc/sys/net/core/somaxconn';
/** More than Node lets wait by default. */
const CLIENTS = 700;

it('A busy server keeps the connections of all clients that connect at the same time', async (context) => {
  if (!existsSync(SOMAXCONN)) return context.skip('only Linux says how many connections may wait');
  if (Number(readFileSync(SOMAXCONN, 'utf8')) < CLIENTS) return context.skip('this system lets fewer connections wait');
  await using directory = await temporaryDirectory();
  await using child = startBuilt('src/main.js', { env: { ANIMA_DATA_DIR: directory.path, PORT: '0' } });
  const { url } = JSON.parse(await child.waitForLine(/"msg":"serving"/)) as { url: string };
  child.signal('SIGSTOP');
  const port = Number(new URL(url).port);
  const sockets: Socket[] = [];
  let connected = 0;
  for (let client = 0; client < CLIENTS; client += 1) {
    const socket = connect(port, '127.0.0.1', () => (connected += 1)).on('error', () => undefined);
    sockets.push(socket);
  }
  try {
    await expect.poll(() => connected, { timeout: 10_000 }).toBe(CLIENTS);
  } finally {
    for (const socket of sockets) socket.destroy();
    child.signal('SIGCONT');
  }
});
