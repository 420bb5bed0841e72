import { setTimeout as sleep } from 'node:timers/promises';

import type { Admin, KafkaJSProtocolError } from 'kafkajs';

import { inTime } from '../shared/within.js';
import { CALL_MS, closeClient, type KafkaSettings, type NewTopics } from './client.js';

/** The default number of partitions of a topic; at most this many projectors share the work. */
export const EVENT_PARTITIONS = 8;
/** The defaults of new topics. A projector that was down for longer than messages are kept reads the rest from the event store. */
const NEW_TOPICS: NewTopics = { partitions: EVENT_PARTITIONS, retentionMs: 7 * 24 * 60 * 60 * 1_000 };
/** How long to wait for the creation of a topic, and then until every broker knows it, in milliseconds. */
export const CREATE_MS = 10_000;
/** The pause before a broker that does not know the topic yet is asked again, in milliseconds. */
const LOOK_AGAIN_MS = 100;

type TopicSettings = Pick<KafkaSettings, 'newTopics' | 'log'>;
type TopicAdmin = Pick<Admin, 'connect' | 'disconnect' | 'listTopics' | 'createTopics' | 'fetchTopicMetadata'>;
/** The time functions that the wait for a topic needs. */
type WaitTime = { readonly nowMs: () => number; readonly wait: (ms: number) => Promise<unknown> };

const systemTime: WaitTime = { nowMs: () => performance.now(), wait: sleep };

/**
 * Creates the topic if it is missing. An existing topic is unchanged, with any number of partitions; a number other than the setting's is logged.
 * @returns the number of its partitions, each of which has a leader
 * @throws what the brokers report, that they are down, or that they take too long
 */
export const ensureTopic = async (
  kafka: { admin(): TopicAdmin },
  topic: string,
  settings: TopicSettings,
  time: WaitTime = systemTime,
): Promise<number> => {
  const admin = kafka.admin();
  try {
    return await inTime(CALL_MS, ensure(admin, topic, settings, time), `Looking for the topic ${topic}`);
  } finally {
    await closeClient(admin);
  }
};

const ensure = async (
  admin: TopicAdmin,
  topic: string,
  { newTopics = NEW_TOPICS, log }: TopicSettings,
  time: WaitTime,
): Promise<number> => {
  await admin.connect();
  const configEntries = [
    { name: 'cleanup.policy', value: 'delete' },
    { name: 'retention.ms', value: String(newTopics.retentionMs) },
  ];
  if (!(await admin.listTopics()).includes(topic)) {
    // False if another process was faster. Leaders are awaited below, whoever created the topic.
    await admin.createTopics({
      topics: [{ topic, numPartitions: newTopics.partitions, configEntries }],
      timeout: CREATE_MS,
      waitForLeaders: false,
    });
  }
  const partitions = await untilLed(admin, topic, time);
  if (partitions !== newTopics.partitions) {
    const wanted = newTopics.partitions;
    log.info(
      { topic, partitions, wanted },
      'The topic exists with a different number of partitions; keeping that number',
    );
  }
  return partitions;
};

/** Waits until the partitions have leaders: not every broker knows a new topic immediately. */
const untilLed = async (admin: TopicAdmin, topic: string, { nowMs, wait }: WaitTime): Promise<number> => {
  const endMs = nowMs() + CREATE_MS;
  for (;;) {
    const looked = await look(admin, topic);
    if (typeof looked === 'number') return looked;
    if (nowMs() + LOOK_AGAIN_MS > endMs) throw looked;
    await wait(LOOK_AGAIN_MS);
  }
};

/** The number of partitions, or the error to throw if it persists. @throws what waiting does not fix */
const look = async (admin: TopicAdmin, topic: string): Promise<number | Error> => {
  try {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    const partitions = topics[0]?.partitions ?? [];
    if (partitions.length > 0 && partitions.every(({ leader }) => leader >= 0)) return partitions.length;
    return new Error(`The topic ${topic} has no leaders for its partitions yet.`);
  } catch (error) {
    if (error instanceof Error && comesRight(error)) return error;
    throw error;
  }
};

/** Whether it is the answer of a broker that will know the topic later. The client wraps an answer that it has retried. */
const comesRight = (error: Error): boolean => {
  const answer = isAnswer(error) ? error : error.cause;
  return isAnswer(answer) && answer.retriable;
};

/** By its name: Node finds no exports for the client's classes of errors. */
const isAnswer = (error: unknown): error is KafkaJSProtocolError =>
  error instanceof Error && error.name === 'KafkaJSProtocolError';
