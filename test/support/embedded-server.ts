import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { openDataDirectory } from '../../src/adapters/embedded/data-directory.js';
import { EmbeddedEventStore } from '../../src/adapters/embedded/event-store.js';
import { assertWholeChains } from './chains.js';
import { assertSameDecisions } from './replays.js';
import { type Child, startBuilt } from './child.js';
import type { OpenServer } from '../scenarios/server-under-test.js';
import { temporaryDirectory } from './temporary-directory.js';

/** A server of the embedded profile in its own process, on a fresh data directory and a free port. At its end every chain is checked to be intact. */
export const openEmbeddedServer: OpenServer = async (env = {}) => {
  const directory = await temporaryDirectory();
  const start = async (): Promise<{ child: Child; url: string }> => {
    const child = startBuilt('src/main.js', {
      env: { PORT: '0', ANIMA_DATA_DIR: directory.path, ANIMA_RATE_LIMIT: 'off', LOG_LEVEL: 'info', ...env },
    });
    const line = await child.waitForLine(/"msg":"serving"/);
    return { child, url: (JSON.parse(line) as { url: string }).url };
  };
  let running = await start();
  const halt = async (): Promise<void> => {
    running.child.signal('SIGTERM');
    const { code } = await running.child.exited();
    if (code !== 0) throw new Error(`the server ended with ${String(code)}: ${running.child.stderr}`);
  };
  const ownerKey = (await readFile(join(directory.path, 'owner-key'), 'utf8')).trim();
  return {
    get url() {
      return running.url;
    },
    ownerKey,
    dataDir: directory.path,
    get output() {
      return running.child.stdout + running.child.stderr;
    },
    restart: async (how) => {
      if (how === 'kill') await running.child.kill();
      else await halt();
      running = await start();
    },
    halt,
    [Symbol.asyncDispose]: async () => {
      await running.child.kill();
      try {
        using data = await openDataDirectory(directory.path);
        await using events = EmbeddedEventStore.open(data.eventsFile);
        await assertSameDecisions(events, await assertWholeChains(events));
      } finally {
        await directory[Symbol.asyncDispose]();
      }
    },
  };
};
