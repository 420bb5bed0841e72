import { Kafka, logLevel } from 'kafkajs';

import type { KafkaSettings } from '../../src/adapters/kafka/client.js';
import type { Log } from '../../src/ports/log.js';
import { distEnv, randomNamespace } from './dist-env.js';

/** A log that records entries at the levels an operator reads. */
export const keptLog = (): Log & { readonly said: { readonly message: string; readonly details: object }[] } => {
  const said: { message: string; details: object }[] = [];
  const keep = (details: object, message: string): void => void said.push({ message, details });
  return { said, isLevelEnabled: () => false, debug: () => undefined, info: keep, warn: keep, error: keep };
};

/** A new namespace on the brokers of this run; its topic is removed at the end. */
export const openKafka = (brokers = distEnv().KAFKA_BROKERS.split(',')) => {
  const settings: KafkaSettings = { brokers, namespace: randomNamespace(), log: keptLog() };
  const kafka = new Kafka({ brokers: distEnv().KAFKA_BROKERS.split(','), logLevel: logLevel.NOTHING });
  const admin = async <T>(use: (admin: ReturnType<Kafka['admin']>) => Promise<T>): Promise<T> => {
    const client = kafka.admin();
    await client.connect();
    try {
      return await use(client);
    } finally {
      await client.disconnect();
    }
  };
  const topic = `${settings.namespace}.events`;
  return {
    settings,
    topic,
    admin,
    [Symbol.asyncDispose]: () =>
      admin(async (client) => {
        if ((await client.listTopics()).includes(topic)) await client.deleteTopics({ topics: [topic] });
      }),
  };
};
