import { Kafka, logLevel } from 'kafkajs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { KafkaSettings } from '../../../src/adapters/kafka/client.js';
import { KafkaFeed } from '../../../src/adapters/kafka/consumer.js';
import { KafkaFeedWriter } from '../../../src/adapters/kafka/producer.js';
import { EVENT_PARTITIONS } from '../../../src/adapters/kafka/topic.js';
import { MemoryEventStore } from '../../support/memory/event-store.js';
import { createChain } from '../../../src/kernel/read-models/feed-chain.js';
import { partitionOf } from '../../../src/kernel/base/partition.js';
import type { FeedBatch } from '../../../src/ports/event-feed.js';
import type { EventStore, RecordedEvent } from '../../../src/ports/event-store.js';
import { appendRounds, eventFeedContract, readerOf, writeAll } from '../../contracts/event-feed.js';
import { event } from '../../support/events.js';
import { keptLog, openKafka } from '../../support/kafka.js';
import { openServers } from '../../support/own-servers.js';
import { distEnv, randomNamespace } from '../../support/dist-env.js';
import { storeWith } from '../../support/streams.js';
import { TcpRelay } from '../../support/tcp-relay.js';
import { appendNext } from '../../support/append-next.js';

const WAIT_MS = 60_000;
const poll = { timeout: WAIT_MS, interval: 20 };

eventFeedContract('Kafka', () => {
  const kafka = openKafka();
  return {
    partitions: EVENT_PARTITIONS,
    writer: () => new KafkaFeedWriter(kafka.settings),
    feed: () => new KafkaFeed(kafka.settings),
    [Symbol.asyncDispose]: () => kafka[Symbol.asyncDispose](),
  };
});

describe('The feed in Kafka', () => {
  let kafka: ReturnType<typeof openKafka>;
  let store: MemoryEventStore;
  let readers: { stop(): Promise<void> }[];
  beforeEach(() => {
    kafka = openKafka();
    store = new MemoryEventStore();
    readers = [];
  });
  afterEach(async () => {
    await Promise.all(readers.map((reader) => reader.stop()));
    await kafka[Symbol.asyncDispose]();
  });

  const read = (settings: KafkaSettings, handled?: Parameters<typeof readerOf>[1]) => {
    const reader = readerOf(new KafkaFeed(settings), handled);
    readers.push(reader);
    return reader;
  };

  it('leaves an existing topic unchanged', async () => {
    await kafka.admin((admin) =>
      admin.createTopics({ topics: [{ topic: kafka.topic, numPartitions: 3 }], waitForLeaders: false }),
    );
    await using session = await new KafkaFeedWriter(kafka.settings).open();
    expect(session.partitions).toBe(3);
  });

  it('creates the topic once when several processes start together', async () => {
    const sessions = await Promise.all(Array.from({ length: 4 }, () => new KafkaFeedWriter(kafka.settings).open()));
    expect(sessions.map(({ partitions }) => partitions)).toEqual([8, 8, 8, 8]);
    for (const session of sessions) await session[Symbol.asyncDispose]();
  });

  it('keeps a member whose batch takes longer than the silence limit', async () => {
    await appendRounds(store, 1, 1);
    await using session = await new KafkaFeedWriter(kafka.settings).open();
    await writeAll(session, store);
    const batches: FeedBatch[] = [];
    const slow = read(kafka.settings, async (batch) => {
      batches.push(batch);
      await new Promise((resolve) => setTimeout(resolve, 13_000));
      return true;
    });
    await expect.poll(() => slow.count, poll).toBe(8);
    expect(batches).toHaveLength(8);
  });

  it('carries events of the largest size, and only announces larger ones', async () => {
    await appendNext(store, 's', [event('fits', { data: { text: 'x'.repeat(890_000) } })]);
    await appendNext(store, 's', [event('too large')]);
    await appendNext(store, 's', [event('after')]);
    // No store accepts such an event today; brokers may be configured below their default limit.
    const text = 'é'.repeat(600_000);
    const grown = (one: RecordedEvent): RecordedEvent => (one.revision === 1 ? { ...one, data: { text } } : one);
    const readAll: EventStore['readAll'] = async (...asked) => (await store.readAll(...asked)).map(grown);
    await using session = await new KafkaFeedWriter(kafka.settings).open();
    await writeAll(session, storeWith(store, { readAll }));
    const reader = read(kafka.settings);
    const partition = partitionOf('s', EVENT_PARTITIONS);
    await expect.poll(() => reader.links[partition]?.length, poll).toBe(3);
    const [fits, tooLarge, after] = reader.links[partition] ?? [];
    expect(fits?.event).toEqual((await store.readAll(0, 1))[0]);
    expect(tooLarge).toEqual({ partitions: EVENT_PARTITIONS, follows: 2, position: 2, event: null });
    expect(after).toMatchObject({ follows: 2, position: 3, event: { id: event('after').id } });
  });

  it('skips foreign messages', async () => {
    await using session = await new KafkaFeedWriter(kafka.settings).open();
    await appendRounds(store, 1, 1);
    const producer = new Kafka({ brokers: [...kafka.settings.brokers], logLevel: logLevel.NOTHING }).producer();
    await producer.connect();
    const values = ['not json', '{"v":1}', '{"v":2,"partitions":8,"follows":0,"position":1,"event":null}', null];
    await producer.send({ topic: kafka.topic, messages: values.map((value) => ({ value, partition: 0 })) });
    await producer.disconnect();
    const written = await writeAll(session, store);
    const reader = read(kafka.settings);
    await expect.poll(() => reader.count, poll).toBe(written);
  });

  it('starts while the brokers are down, and reads once they are up', async () => {
    const [host = '', port] = (distEnv().KAFKA_BROKERS.split(',')[0] ?? '').split(':');
    await appendRounds(store, 10, 2);
    await using session = await new KafkaFeedWriter(kafka.settings).open();
    const written = await writeAll(session, store);
    await using way = new TcpRelay({ host, port: Number(port) });
    await way.open();
    await way.close();
    // The broker advertises its own address, so only the first connection goes through here.
    const late = { ...kafka.settings, brokers: [`127.0.0.1:${way.port}`] };
    const reader = read(late);
    await expect(new KafkaFeedWriter(late).open()).rejects.toThrow();
    expect(reader.count).toBe(0);
    await way.open();
    await expect.poll(() => reader.count, poll).toBe(written);
    await (await new KafkaFeedWriter(late).open())[Symbol.asyncDispose]();
  });
});

describe('The feed in a Kafka that dies', () => {
  it('recovers with Kafka: a writer fails and starts again, a member reads on', async () => {
    await using servers = await openServers('kafka');
    const settings = { brokers: [servers.env['KAFKA_BROKERS'] ?? ''], namespace: randomNamespace(), log: keptLog() };
    const store = new MemoryEventStore();
    const writer = new KafkaFeedWriter(settings);
    const reader = readerOf(new KafkaFeed(settings));
    const events = () => new Set(reader.links.flatMap((links) => links.flatMap(({ event }) => event?.id ?? [])));
    for (let round = 0; round < 3; round += 1) {
      await appendNext(store, 's', [event(`before-${round}`)]);
      const all = createChain(0, EVENT_PARTITIONS).next(await store.readAll(0, 10));
      const session = await writer.open();
      await session.write(all);
      await expect.poll(() => events().size, poll).toBe(round + 1);
      await servers.kill('kafka');
      await expect(session.write(all)).rejects.toThrow();
      await session[Symbol.asyncDispose]();
      await servers.restart('kafka');
    }
    await reader.stop();
    expect(settings.log.said.map(({ message }) => message)).toContain('Lost the event feed; resuming');
  }, 300_000);
});
