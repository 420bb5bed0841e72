import { afterAll, beforeAll, describe, it } from 'vitest';

import { createLoad, type Load } from '../support/load.js';
import { type Namespace, openNamespace, type ServingProcess } from '../support/distributed-server.js';
import { openSharedServers, type OwnServers } from '../support/own-servers.js';

/** Responses between two outages, and how long these take, in milliseconds: shorter than any caller waits, and longer. */
const ANSWERS = 40;
const OUTAGES_MS = [1_500, 20_000] as const;

const passed = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('a component that is lost under load and comes back', () => {
  let servers: OwnServers;
  let namespace: Namespace;
  let load: Load;
  let urls: readonly string[] = [];
  let worker: ServingProcess;

  beforeAll(async () => {
    servers = await openSharedServers('eventstore', 'temporal', 'kafka', 'postgres');
    namespace = await openNamespace(servers.env);
    const [first, second, third] = await Promise.all([
      namespace.start('http'),
      namespace.start('http'),
      namespace.start('worker'),
      namespace.start('projector,relay'),
    ]);
    urls = [first.url, second.url];
    worker = third;
    load = createLoad(namespace);
  });
  afterAll(async () => {
    await namespace[Symbol.asyncDispose]();
    await servers[Symbol.asyncDispose]();
  });

  it.each(['eventstore', 'temporal', 'postgres', 'kafka'] as const)(
    'costs only time when it is %s: nothing acknowledged is lost or duplicated, turns continue, read models equal a rebuild',
    async (name) => {
      await load.run(urls, async (answers) => {
        for (const ms of OUTAGES_MS) {
          await answers(ANSWERS);
          await servers.kill(name);
          await passed(ms);
          await servers.restart(name);
        }
        await answers(ANSWERS);
      });
    },
    300_000,
  );

  it.each(['eventstore', 'temporal'] as const)(
    'costs only time when it is %s and hangs',
    async (name) => {
      await load.run(urls, async (answers) => {
        for (const ms of OUTAGES_MS) {
          await answers(ANSWERS);
          await servers.hang(name, true);
          await passed(ms);
          await servers.hang(name, false);
        }
        await answers(ANSWERS);
      });
    },
    300_000,
  );

  it('costs only time when it is the only worker', async () => {
    await load.run(urls, async (answers) => {
      for (const ms of OUTAGES_MS) {
        await answers(ANSWERS);
        await worker.child.kill();
        await passed(ms);
        worker = await namespace.start('worker');
      }
      await answers(ANSWERS);
    });
  }, 300_000);

  it('costs only time when all are killed together', async () => {
    const names = ['eventstore', 'temporal', 'postgres', 'kafka'] as const;
    await load.run(urls, async (answers) => {
      await answers(ANSWERS);
      for (const name of names) await servers.kill(name);
      for (const name of names) await servers.restart(name);
      await answers(ANSWERS);
    });
  }, 300_000);
});
