import { type Kafka, Partitioners, type Producer } from 'kafkajs';

import {
  type CloudEvent,
  type EventPublisher,
  messageKey,
  type PublisherSession,
  withoutData,
} from '../../ports/event-publisher.js';
import { inTime, within } from '../shared/within.js';
import { CALL_MS, closeClient, type KafkaSettings, openKafkaClient, openProducer } from './client.js';
import { MAX_MESSAGE_BYTES } from './link-format.js';
import { refusing } from './refusal.js';
import { type PlacedMessage, sendMessages } from './send-messages.js';
import { ensureTopic } from './topic.js';

/** How long the brokers keep a transaction open whose relay was killed, in milliseconds. The next relay ends it immediately. */
const TRANSACTION_MS = 30_000;

/** Publishes the events of minds in a topic for external programs. */
export class KafkaEventPublisher implements EventPublisher {
  readonly #kafka: Kafka;
  readonly #settings: KafkaSettings;
  readonly #topic: string;

  /** @param topic its full name (`KAFKA_PUBLIC_TOPIC`) */
  constructor(settings: KafkaSettings, topic: string) {
    this.#kafka = openKafkaClient(settings);
    this.#settings = settings;
    this.#topic = topic;
  }

  open(): Promise<PublisherSession> {
    return this.#open().catch(refusing);
  }

  async #open(): Promise<PublisherSession> {
    const partitions = await ensureTopic(this.#kafka, this.#topic, this.#settings);
    // The brokers accept nothing more from an earlier producer of this name once a later one has begun a transaction. So a relay that hung, and has
    // not noticed that another has replaced it, cannot put later events of a mind before earlier ones.
    const producer = await openProducer(this.#kafka, {
      transactionalId: `${this.#settings.namespace}.publisher.${this.#topic}`,
      transactionTimeout: TRANSACTION_MS,
    });
    return {
      write: (events) =>
        publish(
          producer,
          this.#topic,
          events.map((event) => toMessage(event, partitions)),
        ).catch(refusing),
      [Symbol.asyncDispose]: () => closeClient(producer),
    };
  }
}

/** The event in the structured mode of CloudEvents, for a topic with this many partitions. */
const toMessage = (event: CloudEvent, partitions: number): PlacedMessage => {
  const whole = Buffer.from(JSON.stringify(event));
  const value =
    whole.length <= MAX_MESSAGE_BYTES ? whole : Buffer.from(JSON.stringify(withoutData(event, 'too-large')));
  const key = messageKey(event);
  const headers = { 'content-type': 'application/cloudevents+json' };
  return { partition: partitionOfKey(key, partitions), key, value, headers };
};

/** Where Kafka's default partitioner (murmur2) puts a key. The choice is made here, to verify afterwards that nothing was left out. */
export const partitionOfKey = (key: string, partitions: number): number =>
  Partitioners.DefaultPartitioner()({
    topic: '',
    partitionMetadata: Array.from({ length: partitions }, (_, partitionId) => ({ ...LED, partitionId })),
    message: { key, value: null },
  });
const LED = { partitionErrorCode: 0, leader: 0, replicas: [], isr: [] };

/** Publishes in one transaction. @throws what `sendMessages` throws; nothing is committed then, unless the commit itself failed */
export const publish = async (
  producer: Pick<Producer, 'transaction'>,
  topic: string,
  messages: readonly PlacedMessage[],
): Promise<void> => {
  if (messages.length === 0) return;
  const transaction = await inTime(CALL_MS, producer.transaction(), 'Beginning a transaction');
  try {
    await sendMessages(transaction, topic, messages);
    await inTime(CALL_MS, transaction.commit(), 'Committing a transaction');
  } catch (error) {
    // Only for the readers, which then need not wait for its end: the session is over.
    if (transaction.isActive())
      await within(
        CALL_MS,
        transaction.abort().catch(() => undefined),
      );
    throw error;
  }
};
