import { type Kafka, Partitioners, type Producer } from 'kafkajs';

import type { FeedEntry, FeedSession, FeedWriter } from '../../ports/event-feed.js';
import { closeClient, eventsTopic, type KafkaSettings, openKafkaClient } from './client.js';
import { encodeLink } from './link-format.js';
import { ACKNOWLEDGE_MS, ACKS_ALL, portions } from './portions.js';
import { refuse } from './refusal.js';
import { ensureTopic } from './topic.js';

/** Writes a namespace's links into its topic. */
export class KafkaFeedWriter implements FeedWriter {
  readonly #kafka: Kafka;
  readonly #settings: KafkaSettings;
  readonly #topic: string;

  constructor(settings: KafkaSettings) {
    this.#settings = settings;
    this.#kafka = openKafkaClient(settings);
    this.#topic = eventsTopic(settings);
  }

  open(): Promise<FeedSession> {
    return this.#open().catch(refuse);
  }

  async #open(): Promise<FeedSession> {
    const partitions = await ensureTopic(this.#kafka, this.#topic, this.#settings);
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

const send = async (producer: Producer, topic: string, entries: readonly FeedEntry[]): Promise<void> => {
  const messages = entries.map(({ partition, link }) => ({
    partition,
    key: link.event?.stream ?? null,
    value: encodeLink(link),
  }));
  for (const portion of portions(messages)) {
    const topicMessages = [{ topic, messages: [...portion] }];
    await producer.sendBatch({ topicMessages, acks: ACKS_ALL, timeout: ACKNOWLEDGE_MS });
  }
};
