import type { Kafka } from 'kafkajs';

import { closeClient } from './client.js';

/** How many partitions the topic gets when it is made here; at most this many projectors share the work. */
export const EVENT_PARTITIONS = 8;
/** How long messages are kept, in milliseconds. A projector that was down for longer reads the rest from the event store. */
const RETENTION_MS = 7 * 24 * 60 * 60 * 1_000;
/** How long the making of a topic is waited for, in milliseconds. */
const CREATE_MS = 10_000;

/**
 * Makes the topic if it is missing. An existing topic stays as it is, with any number of partitions.
 * @returns the number of its partitions
 * @throws what the brokers report, or that they are down
 */
export const ensureTopic = async (kafka: Kafka, topic: string): Promise<number> => {
  const admin = kafka.admin();
  try {
    await admin.connect();
    const configEntries = [
      { name: 'cleanup.policy', value: 'delete' },
      { name: 'retention.ms', value: String(RETENTION_MS) },
    ];
    if (!(await admin.listTopics()).includes(topic)) {
      // False when another process was faster.
      await admin.createTopics({
        topics: [{ topic, numPartitions: EVENT_PARTITIONS, configEntries }],
        timeout: CREATE_MS,
        waitForLeaders: true,
      });
    }
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    const found = topics[0]?.partitions.length ?? 0;
    if (found === 0) throw new Error(`The topic ${topic} has no partitions yet.`);
    return found;
  } finally {
    await closeClient(admin);
  }
};
