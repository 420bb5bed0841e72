import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { apiOf } from '../support/api.js';
import { openNamespace, type Namespace, type ServingProcess } from '../support/distributed-server.js';
import { openKafka } from '../support/kafka.js';
import { readPlainly } from '../support/plain-consumer.js';

describe('KAFKA_PUBLIC_TOPIC', () => {
  let namespace: Namespace;
  let topic: string;
  beforeEach(async () => {
    namespace = await openNamespace();
    topic = `${namespace.settings.ANIMA_NAMESPACE}-minds`;
  });
  afterEach(async () => {
    await namespace[Symbol.asyncDispose]();
    await using kafka = openKafka();
    await kafka.admin(async (admin) => {
      const made = (await admin.listTopics()).filter((name) => name.startsWith(namespace.settings.ANIMA_NAMESPACE));
      await admin.deleteTopics({ topics: made });
    });
  });

  const stop = async ({ child }: ServingProcess): Promise<void> => {
    child.signal('SIGTERM');
    expect((await child.exited()).code).toBe(0);
  };

  it("publishes from the relay's position when it is set, the same events as the history, with the configured number of partitions [11.7e, 11.7f]", async () => {
    const first = await namespace.start('http,relay,projector');
    const before = apiOf(first.url, namespace.ownerKey);
    expect((await before.post('/npcs', { npcId: 'before', persona: 'A guard.' })).status).toBe(200);
    // The relay has written everything that is listed.
    const listed = async () => (await before.get('/npcs')).body as unknown;
    await expect.poll(listed, { timeout: 30_000 }).toMatchObject([{ npcId: 'before' }]);
    await stop(first);
    const second = await namespace.start('http,relay,projector', { KAFKA_PUBLIC_TOPIC: topic, KAFKA_PARTITIONS: '3' });
    const after = apiOf(second.url, namespace.ownerKey);
    expect((await after.post('/npcs', { npcId: 'old gate', data: { hp: 40 } })).status).toBe(200);
    const seen = await readPlainly(namespace.settings.KAFKA_BROKERS, topic, 1);
    const [told] = (await after.get('/npcs/old%20gate/history')).body.events;
    expect(seen.map(({ key, event }) => [key, event])).toEqual([
      [
        'local/old%20gate',
        {
          specversion: '1.0',
          id: told.id,
          source: `/${namespace.settings.ANIMA_NAMESPACE}`,
          type: 'anima.npc.NpcRegistered',
          subject: 'old gate',
          time: told.at,
          dataschema: 'urn:anima:event:NpcRegistered:1',
          tenant: 'local',
          npcid: 'old gate',
          revision: 0,
          hash: told.hash,
          prevhash: told.prevHash,
          datacontenttype: 'application/json',
          data: told.data,
        },
      ],
    ]);
    await using kafka = openKafka();
    const partitionsOf = (name: string) =>
      kafka.admin(async (admin) => (await admin.fetchTopicMetadata({ topics: [name] })).topics[0]?.partitions.length);
    expect(await partitionsOf(topic)).toBe(3);
    expect(await partitionsOf(`${namespace.settings.ANIMA_NAMESPACE}.events`), 'what is there stays').toBe(8);
    expect(namespace.output).toContain('The topic exists with a different number of partitions; keeping that number');
    expect(((await after.get('/npcs')).body as unknown[]).length).toBe(2);
  });
});
