import type { Kafka } from 'kafkajs';

import type { FeedEntry, FeedSession, FeedWriter } from '../../ports/event-feed.js';
import { closeClient, eventsTopic, type KafkaSettings, openKafkaClient, openProducer } from './client.js';
import { encodeLink } from './link-format.js';
import { refusing } from './refusal.js';
import { type PlacedMessage, sendMessages } from './send-messages.js';
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
    return this.#open().catch(refusing);
  }

  async #open(): Promise<FeedSession> {
    const partitions = await ensureTopic(this.#kafka, this.#topic, this.#settings);
    // Each session has its own producer. Brokers recognise a repeat by producer and number alone. After a failure whose outcome is unknown they would
    // treat other messages under the same numbers as a repeat and drop them.
    const producer = await openProducer(this.#kafka);
    return {
      partitions,
      write: (entries) => sendMessages(producer, this.#topic, entries.map(toMessage)).catch(refusing),
      [Symbol.asyncDispose]: () => closeClient(producer),
    };
  }
}

const toMessage = ({ partition, link }: FeedEntry): PlacedMessage => ({
  partition,
  key: link.event?.stream ?? null,
  value: encodeLink(link),
});
