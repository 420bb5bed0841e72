import { afterAll, beforeAll, describe, it } from 'vitest';

import { createLoad, type Load } from '../support/load.js';
import { type Namespace, openNamespace } from '../support/distributed-server.js';
import { openServers, type OwnServers } from '../support/own-servers.js';

/** Answers between two kills, and how long a server stays away, in milliseconds. */
const ANSWERS = 40;
const AWAY_MS = 1_500;
const KILLS = 2;

describe('a server that is killed under load and comes back', () => {
  let servers: OwnServers;
  let namespace: Namespace;
  let load: Load;
  let urls: readonly string[] = [];

  beforeAll(async () => {
    servers = await openServers('eventstore', 'temporal', 'kafka', 'postgres');
    namespace = await openNamespace(servers.env);
    const [first, second] = await Promise.all([
      namespace.start('http'),
      namespace.start('http'),
      namespace.start('worker'),
      namespace.start('projector,relay'),
    ]);
    urls = [first.url, second.url];
    load = createLoad(namespace);
  });
  afterAll(async () => {
    await namespace[Symbol.asyncDispose]();
    await servers[Symbol.asyncDispose]();
  });

  it.each(['eventstore', 'temporal', 'postgres', 'kafka'] as const)(
    'costs nothing but time when it is %s: nothing acknowledged is lost or doubled, turns go on, read models are as if rebuilt',
    async (name) => {
      await load.run(urls, async (answers) => {
        for (let kill = 0; kill < KILLS; kill += 1) {
          await answers(ANSWERS);
          await servers.kill(name);
          await new Promise((resolve) => setTimeout(resolve, AWAY_MS));
          await servers.restart(name);
        }
        await answers(ANSWERS);
      });
    },
    180_000,
  );

  it('costs nothing but time when all are killed at once', async () => {
    const names = ['eventstore', 'temporal', 'postgres', 'kafka'] as const;
    await load.run(urls, async (answers) => {
      await answers(ANSWERS);
      for (const name of names) await servers.kill(name);
      for (const name of names) await servers.restart(name);
      await answers(ANSWERS);
    });
  }, 180_000);
});
