import { type Kafka, type Message, Partitioners, type Producer } from 'kafkajs';

import { type CloudEvent, messageKey, withoutData } from '../../domain/npc/cloud-event.js';
import type { EventPublisher, PublisherSession } from '../../ports/event-publisher.js';
import { closeClient, type KafkaSettings, openKafkaClient } from './client.js';
import { MAX_MESSAGE_BYTES } from './link-format.js';
import { ACKNOWLEDGE_MS, ACKS_ALL, portions } from './portions.js';
import { refuse } from './refusal.js';
import { ensureTopic } from './topic.js';

/** How long the brokers keep a transaction open whose relay was killed, in milliseconds. The next relay ends it at once. */
const TRANSACTION_MS = 30_000;

/** Publishes the events of minds in a topic for programs of others. */
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
    return this.#open().catch(refuse);
  }

  async #open(): Promise<PublisherSession> {
    await ensureTopic(this.#kafka, this.#topic, this.#settings);
    // The brokers take nothing more from an earlier producer of this name once a later one has begun a transaction. So a relay that hung, and does not
    // know that another has taken its place, cannot put later events of a mind before earlier ones.
    const producer = this.#kafka.producer({
      transactionalId: `${this.#settings.namespace}.publisher.${this.#topic}`,
      transactionTimeout: TRANSACTION_MS,
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
      write: (events) => publish(producer, this.#topic, events.map(toMessage)).catch(refuse),
      [Symbol.asyncDispose]: () => closeClient(producer),
    };
  }
}

/** The event in the structured mode of CloudEvents. */
export const toMessage = (event: CloudEvent): Message & { readonly key: string; readonly value: Buffer } => {
  const whole = Buffer.from(JSON.stringify(event));
  const value =
    whole.length <= MAX_MESSAGE_BYTES ? whole : Buffer.from(JSON.stringify(withoutData(event, 'too-large')));
  return { key: messageKey(event), value, headers: { 'content-type': 'application/cloudevents+json' } };
};

const publish = async (
  producer: Producer,
  topic: string,
  messages: readonly ReturnType<typeof toMessage>[],
): Promise<void> => {
  if (messages.length === 0) return;
  const transaction = await producer.transaction();
  try {
    for (const portion of portions(messages)) {
      const topicMessages = [{ topic, messages: [...portion] }];
      await transaction.sendBatch({ topicMessages, acks: ACKS_ALL, timeout: ACKNOWLEDGE_MS });
    }
    await transaction.commit();
  } catch (error) {
    // Only for readers' sake, who then need not wait for its end: the session is over.
    if (transaction.isActive()) await transaction.abort().catch(() => undefined);
    throw error;
  }
};
