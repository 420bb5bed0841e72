import { EventEmitter } from 'node:events';

import { type Admin, type Consumer, type ConsumerEvents, Kafka } from 'kafkajs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { KafkaFeed } from '../../../src/adapters/kafka/consumer.js';
import { keptLog } from '../../support/kafka.js';

const fake = vi.hoisted((): { kafka: unknown } => ({ kafka: null }));
vi.mock('../../../src/adapters/kafka/client.js', async (original) => ({
  ...(await original<object>()),
  openKafkaClient: () => fake.kafka,
}));

/** How long a member may stay silent, and a longer time. */
const SILENT_MS = 20_000;
const STANDSTILL_MS = 25_000;
const TOPIC = 'anima.events';
const answeringAdmin = (): Partial<Admin> => ({
  connect: () => Promise.resolve(),
  disconnect: () => Promise.resolve(),
  listTopics: () => Promise.resolve([TOPIC]),
  createTopics: () => Promise.resolve(true),
  fetchTopicMetadata: () =>
    Promise.resolve({
      topics: [
        { name: TOPIC, partitions: [{ partitionId: 0, leader: 0, partitionErrorCode: 0, replicas: [], isr: [] }] },
      ],
    }),
});

describe('A member of the group that was given up', () => {
  type Call = 'connect' | 'subscribe' | 'run';
  /** The members by number: those that fetch hold partitions, those that are open hold connections. */
  let fetching: Set<number>;
  let open: Set<number>;
  let ran: number[];
  let made: number;

  /** As in kafkajs 2.2.4: `disconnect` stops a member that has joined, and ignores one that has not, which may join later. */
  const consumerThatStandsStillAt = (slow: Call, events: ConsumerEvents) => (): Partial<Consumer> => {
    const member = (made += 1);
    const emitter = new EventEmitter();
    let forgotten = false;
    const answer = (call: Call): Promise<void> =>
      new Promise((resolve) => setTimeout(resolve, member === 1 && call === slow ? STANDSTILL_MS : 0));
    const on = (event: string, listener: (event: unknown) => void) => {
      emitter.on(event, listener);
      return () => emitter.off(event, listener);
    };
    return {
      events,
      on: on as unknown as Consumer['on'],
      connect: async () => {
        await answer('connect');
        open.add(member);
      },
      subscribe: () => answer('subscribe'),
      run: async () => {
        ran.push(member);
        await answer('run');
        fetching.add(member);
        // A healthy member gives signs from now on.
        if (member > 1) setInterval(() => emitter.emit(events.FETCH, {}), 1_000);
      },
      disconnect: () => {
        if (ran.includes(member) && !fetching.has(member)) forgotten = true;
        if (!forgotten) fetching.delete(member);
        open.delete(member);
        return Promise.resolve();
      },
    };
  };

  beforeEach(() => {
    vi.useFakeTimers();
    [fetching, open, ran, made] = [new Set(), new Set(), [], 0];
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each(['connect', 'subscribe', 'run'] as const)(
    'holds no partitions and no connections when the brokers finally answer its %s',
    async (slow) => {
      const { events } = new Kafka({ brokers: ['127.0.0.1:1'] }).consumer({ groupId: 'g' });
      fake.kafka = { admin: answeringAdmin, consumer: consumerThatStandsStillAt(slow, events) };
      const feed = new KafkaFeed({ namespace: 'anima', brokers: [], log: keptLog() });
      const stop = new AbortController();
      const handlers = { assigned: () => undefined, handle: () => Promise.resolve(true) };
      const following = feed.follow(handlers, stop.signal);
      await vi.advanceTimersByTimeAsync(SILENT_MS);
      await vi.waitFor(() => expect([...open]).toContain(2));
      await vi.advanceTimersByTimeAsync(STANDSTILL_MS);
      expect([[...fetching], [...open]]).toEqual([[2], [2]]);
      expect(ran).toEqual(slow === 'run' ? [1, 2] : [2]);
      stop.abort();
      await vi.advanceTimersByTimeAsync(STANDSTILL_MS);
      await following;
      expect([[...fetching], [...open]]).toEqual([[], []]);
    },
  );
});
