import { KafkaJSNumberOfRetriesExceeded, KafkaJSProtocolError } from 'kafkajs';
import { describe, expect, it } from 'vitest';

import type { NewTopics } from '../../../src/adapters/kafka/client.js';
import { CREATE_MS, ensureTopic } from '../../../src/adapters/kafka/topic.js';
import { keptLog } from '../../support/kafka.js';

const protocolError = (type: string, retriable: boolean): KafkaJSProtocolError =>
  new KafkaJSProtocolError(Object.assign(new Error(type), { type, retriable }));
const unknownTopic = protocolError('UNKNOWN_TOPIC_OR_PARTITION', true);
const partitionsLedBy = (...leaders: readonly number[]) =>
  leaders.map((leader, partitionId) => ({ partitionErrorCode: 0, partitionId, leader, replicas: [], isr: [] }));

/** A broker's answer about the topic's partitions. */
type Said = Error | ReturnType<typeof partitionsLedBy>;

/** Brokers that answer each request with the next of `answers`, and repeat the last one; and a clock that only waiting moves. */
const scene = (answers: readonly Said[], listed: readonly string[] = []) => {
  const made: object[] = [];
  const log = keptLog();
  let looks = 0;
  let nowMs = 0;
  const admin = {
    connect: () => Promise.resolve(),
    disconnect: () => Promise.resolve(),
    listTopics: () => Promise.resolve([...listed]),
    createTopics: ({ topics }: { topics: object[] }) => {
      made.push(...topics);
      return Promise.resolve(false);
    },
    fetchTopicMetadata: () => {
      const answer = answers[Math.min(looks, answers.length - 1)] ?? [];
      looks += 1;
      return answer instanceof Error
        ? Promise.reject(answer)
        : Promise.resolve({ topics: [{ name: 't', partitions: answer }] });
    },
  };
  const time = { nowMs: () => nowMs, wait: async (ms: number) => void (nowMs += ms) };
  return {
    made,
    said: log.said,
    ensure: (newTopics?: NewTopics) =>
      ensureTopic({ admin: () => admin }, 't', { log, ...(newTopics === undefined ? {} : { newTopics }) }, time),
    get looks() {
      return looks;
    },
    get nowMs() {
      return nowMs;
    },
  };
};

describe('A topic that another process has just created', () => {
  it('is waited for until every broker has it and its partitions have leaders', async () => {
    const wrapped = new KafkaJSNumberOfRetriesExceeded(unknownTopic, { retryCount: 4, retryTime: 1 });
    const young = scene([unknownTopic, wrapped, [], partitionsLedBy(1, -1), partitionsLedBy(1, 1)]);
    expect(await young.ensure()).toBe(2);
    expect([young.looks, young.made]).toMatchObject([5, [{ topic: 't' }]]);
  });

  it('is not created again when it is listed, but still waited for', async () => {
    const young = scene([unknownTopic, unknownTopic, partitionsLedBy(1, 1, 1)], ['t']);
    expect(await young.ensure()).toBe(3);
    expect(young.made).toEqual([]);
  });

  it('is given up within a bounded time when it never becomes ready', async () => {
    const unknown = scene([unknownTopic]);
    await expect(unknown.ensure()).rejects.toBe(unknownTopic);
    const leaderless = scene([partitionsLedBy(-1)]);
    await expect(leaderless.ensure()).rejects.toThrow('no leaders');
    for (const { looks, nowMs } of [unknown, leaderless]) {
      expect(looks).toBeGreaterThan(2);
      expect(nowMs).toBeLessThanOrEqual(CREATE_MS);
    }
  });

  it('is not waited for when a broker gives a permanent error', async () => {
    const forbidden = protocolError('TOPIC_AUTHORIZATION_FAILED', false);
    const closed = scene([forbidden, partitionsLedBy(1)]);
    await expect(closed.ensure()).rejects.toBe(forbidden);
    expect(closed.looks).toBe(1);
  });
});

describe('The settings of new topics', () => {
  const settings = { partitions: 3, retentionMs: 3_600_000 };

  it('configure how a topic is created [11.7f]', async () => {
    const missing = scene([partitionsLedBy(1, 1, 1)]);
    expect(await missing.ensure(settings)).toBe(3);
    const configEntries = expect.arrayContaining([{ name: 'retention.ms', value: '3600000' }]);
    expect(missing.made).toEqual([{ topic: 't', numPartitions: 3, configEntries }]);
    expect(missing.said).toEqual([]);
  });

  it('do not change an existing topic, which is logged [11.7f]', async () => {
    const there = scene([partitionsLedBy(1, 1)], ['t']);
    expect(await there.ensure(settings)).toBe(2);
    expect(there.made).toEqual([]);
    expect(there.said).toEqual([
      {
        details: { topic: 't', partitions: 2, wanted: 3 },
        message: 'The topic exists with a different number of partitions; keeping that number',
      },
    ]);
  });
});
