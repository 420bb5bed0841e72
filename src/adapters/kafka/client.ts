import type { ConnectionOptions } from 'node:tls';

import {
  type Admin,
  Kafka,
  type KafkaConfig,
  type logCreator,
  logLevel,
  Partitioners,
  type Producer,
  type ProducerConfig,
  type SASLOptions,
} from 'kafkajs';

import type { Log } from '../../ports/log.js';
import type { KafkaAccess } from '../../ports/server-access.js';
import { inTime, within } from '../shared/within.js';
import { quietQueues } from './quiet-queue.js';
import { refusing } from './refusal.js';

/** Neither TLS nor authentication. */
const PLAIN: KafkaAccess = { tls: null, sasl: null };
/** The timeout of a connection, and of an answer, in milliseconds. */
const CONNECT_MS = 1_500;
const REQUEST_MS = 10_000;
/**
 * How often the client itself retries a call, and the pauses in between, in milliseconds. A call that still fails is started again from the
 * beginning.
 */
export const RETRY = { retries: 4, initialRetryTime: 100, maxRetryTime: 1_000 } as const;
/**
 * How long a call of the client may take with all its retries, in milliseconds. It may hang for ever after a lost connection
 * (https://github.com/tulios/kafkajs/issues/660).
 */
export const CALL_MS = 30_000;
/** How long closing may take, in milliseconds: the client waits for brokers that are gone. */
const CLOSE_MS = 3_000;

export type KafkaSettings = {
  /** `KAFKA_BROKERS`, host and port each. */
  readonly brokers: readonly string[];
  /** `ANIMA_NAMESPACE`: names of topics and groups begin with it. */
  readonly namespace: string;
  readonly log: Log;
  /** Without it the connection is plain and unauthenticated. */
  readonly access?: KafkaAccess;
  /** `KAFKA_PARTITIONS`, `KAFKA_RETENTION_HOURS`; default: the defaults of both. */
  readonly newTopics?: NewTopics;
};

/** How a missing topic is created: the number of its partitions, and how long its messages are kept, in milliseconds. */
export type NewTopics = { readonly partitions: number; readonly retentionMs: number };

/** The topic that holds the events of a namespace, for projectors alone: it also carries hashes of API keys and wrapped signing keys. */
export const eventsTopic = ({ namespace }: Pick<KafkaSettings, 'namespace'>): string => `${namespace}.events`;
/** The group whose members share the partitions of that topic. */
export const projectorGroup = ({ namespace }: Pick<KafkaSettings, 'namespace'>): string => `${namespace}.projector`;

/** A client that has not connected yet. Its own log is for debugging; its user reports what failed in the end. */
export const openKafkaClient = ({ brokers, namespace, log, access = PLAIN }: KafkaSettings): Kafka => {
  const creator: logCreator = () => (entry) => {
    const { message, ...details } = entry.log;
    log.debug({ kafka: details }, message);
  };
  const config: KafkaConfig = {
    clientId: `anima-${namespace}`,
    brokers: [...brokers],
    ...(access.tls === null ? {} : { ssl: tlsOf(access.tls) }),
    ...(access.sasl === null ? {} : { sasl: access.sasl as SASLOptions }),
    connectionTimeout: CONNECT_MS,
    requestTimeout: REQUEST_MS,
    enforceRequestTimeout: true,
    retry: RETRY,
    logLevel: log.isLevelEnabled('debug') ? logLevel.INFO : logLevel.NOTHING,
    logCreator: creator,
  };
  quietQueues();
  return new Kafka(config);
};

const tlsOf = ({ ca, client }: NonNullable<KafkaAccess['tls']>): ConnectionOptions => ({
  ...(ca === null ? {} : { ca }),
  ...(client === null ? {} : { cert: client.certificate, key: client.key }),
});

/**
 * Resolves if a broker answers, after one try.
 * @throws the client's failure, with the settings to check
 */
export const pingBrokers = async (settings: KafkaSettings): Promise<void> => {
  const admin = openKafkaClient(settings).admin({ retry: { retries: 0 } });
  try {
    await admin.connect();
    await admin.describeCluster();
  } catch (error) {
    refusing(error);
  } finally {
    await closeClient(admin);
  }
};

/** Closes within a bounded time; anything left after that ends on its own. */
export const closeClient = async (client: Pick<Admin, 'disconnect'>): Promise<void> => {
  await within(
    CLOSE_MS,
    client.disconnect().catch(() => undefined),
  );
};

/** A connected producer whose repeats the brokers recognise. @throws what connecting throws; it is closed then */
export const openProducer = async (kafka: Kafka, transaction: ProducerConfig = {}): Promise<Producer> => {
  const producer = kafka.producer({
    ...transaction,
    idempotent: true,
    maxInFlightRequests: 1,
    allowAutoTopicCreation: false,
    createPartitioner: Partitioners.DefaultPartitioner,
  });
  try {
    await inTime(CALL_MS, producer.connect(), 'Connecting to the brokers');
    return producer;
  } catch (error) {
    await closeClient(producer);
    throw error;
  }
};
