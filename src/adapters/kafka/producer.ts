import { type Kafka, type Message, Partitioners, type Producer } from 'kafkajs';

import type { FeedEntry, FeedSession, FeedWriter } from '../../ports/event-feed.js';
import { closeClient, eventsTopic, type KafkaSettings, openKafkaClient } from './client.js';
import { encodeLink, MAX_MESSAGE_BYTES } from './link-format.js';
import { kafkaRefusal } from './refusal.js';
import { ensureTopic } from './topic.js';

/** How long brokers may take to acknowledge, in milliseconds. */
const ACKNOWLEDGE_MS = 8_000;
/** From all replicas that are in step. */
const ACKS_ALL = -1;
/** More than what the protocol adds to a message, in bytes. */
const RECORD_BYTES = 100;

/** Writes a namespace's links into its topic. */
export class KafkaFeedWriter implements FeedWriter {
  readonly #kafka: Kafka;
  readonly #topic: string;

  constructor(settings: KafkaSettings) {
    this.#kafka = openKafkaClient(settings);
    this.#topic = eventsTopic(settings);
  }

  open(): Promise<FeedSession> {
    return this.#open().catch(refuse);
  }

  async #open(): Promise<FeedSession> {
    const partitions = await ensureTopic(this.#kafka, this.#topic);
    // Each session has its own producer. Brokers recognise a repeat by producer and number alone. After a failure whose outcome is unknown they would
    // take other messages under the same numbers for a repeat and drop them.
    const producer = this.#kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      createPartitioner: Partitioners.DefaultPartitioner,
    });
    try {
      await producer.connect();
    } catch (error) {
      await closeClient(producer);
      throw error;
    }
    return {
      partitions,
      write: (entries) => send(producer, this.#topic, entries).catch(refuse),
      [Symbol.asyncDispose]: () => closeClient(producer),
    };
  }
}

/** @throws Error with the setting to look at, when brokers refuse us */
const refuse = (error: unknown): never => {
  throw kafkaRefusal(error);
};

/** Sends portion after portion. What one request holds for one partition is one batch to the broker, and the size of a batch is bounded. */
const send = async (producer: Producer, topic: string, entries: readonly FeedEntry[]): Promise<void> => {
  let messages: Message[] = [];
  let bytes = 0;
  const flush = async (): Promise<void> => {
    if (messages.length === 0) return;
    const topicMessages = [{ topic, messages }];
    messages = [];
    bytes = 0;
    await producer.sendBatch({ topicMessages, acks: ACKS_ALL, timeout: ACKNOWLEDGE_MS });
  };
  for (const { partition, link } of entries) {
    const value = encodeLink(link);
    const key = link.event?.stream ?? null;
    const size = value.length + Buffer.byteLength(key ?? '') + RECORD_BYTES;
    if (bytes + size > MAX_MESSAGE_BYTES) await flush();
    messages.push({ partition, key, value });
    bytes += size;
  }
  await flush();
};
