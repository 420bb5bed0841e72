import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { Kafka, logLevel } from 'kafkajs';

import { guard, guardedAddresses, guardedListeners, guardedSettings, isGuarded, scramUsers } from './kafka-access.js';
import type { Server, Site } from './server.js';
import { keep, run } from './tools.js';

const VERSION = '4.1.0';
/** The binding that writes Kafka's log to standard error, for the slf4j that this Kafka uses. */
const SLF4J_VERSION = '1.7.36';
const COPY_GOAL = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';
const INSTALL_LIMIT_MS = 10 * 60_000;
const FORMAT_LIMIT_MS = 60_000;
const READY_LIMIT_MS = 120_000;
const ASK_LIMIT_MS = 5_000;

const place = (cache: string): string => join(cache, `kafka-${VERSION}`);
const address = (site: Site): string => `127.0.0.1:${site.ports[0] ?? 0}`;
const java = (site: Site, ...args: string[]): string[] => [
  '-Xmx512m',
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
  ...['-cp', join(place(site.cache), '*')],
  ...args,
];
const whenMissing = 'kafka needs Java, but "java" is not on the PATH. Install a Java runtime, version 17 or newer.';

const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>anima</groupId>
  <artifactId>kafka</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>kafka_2.13</artifactId>
      <version>${VERSION}</version>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-simple</artifactId>
      <version>${SLF4J_VERSION}</version>
    </dependency>
  </dependencies>
</project>
`;

const listenersOf = (site: Site): Readonly<Record<string, string>> => ({
  PLAINTEXT: address(site),
  ...(isGuarded(site) ? guardedListeners(site) : {}),
});
const listed = (listeners: Readonly<Record<string, string>>): string =>
  Object.entries(listeners)
    .map(([name, at]) => `${name}://${at}`)
    .join(',');

const settings = (site: Site): Readonly<Record<string, string | number | boolean>> => ({
  'process.roles': 'broker,controller',
  'node.id': 1,
  'controller.quorum.voters': `1@127.0.0.1:${site.ports[1] ?? 0}`,
  listeners: listed({ ...listenersOf(site), CONTROLLER: `127.0.0.1:${site.ports[1] ?? 0}` }),
  'advertised.listeners': listed(listenersOf(site)),
  'inter.broker.listener.name': 'PLAINTEXT',
  'controller.listener.names': 'CONTROLLER',
  'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_SSL:SASL_SSL,SSL:SSL',
  'log.dirs': join(site.directory, 'data'),
  // There is one node, so one copy.
  'default.replication.factor': 1,
  'offsets.topic.replication.factor': 1,
  'offsets.topic.num.partitions': 4,
  'transaction.state.log.replication.factor': 1,
  'transaction.state.log.min.isr': 1,
  'transaction.state.log.num.partitions': 1,
  'share.coordinator.state.topic.replication.factor': 1,
  'share.coordinator.state.topic.min.isr': 1,
  // An unknown topic is a mistake, not a new topic with one partition.
  'auto.create.topics.enable': false,
  'group.initial.rebalance.delay.ms': 0,
  // After kill -9 the node may return as soon as its old session has ended.
  'broker.heartbeat.interval.ms': 500,
  'broker.session.timeout.ms': 3_000,
  'log.cleaner.dedupe.buffer.size': 16_777_216,
});

const clusterId = async (site: Site): Promise<string> => {
  const file = join(site.directory, 'cluster-id');
  if (!existsSync(file)) await writeFile(file, randomBytes(16).toString('base64url'));
  return readFile(file, 'utf8');
};

/** One Apache Kafka node, broker and controller in one (KRaft), from Maven's jars. */
export const kafka: Server = {
  name: 'kafka',
  portCount: 4,
  readyLimitMs: READY_LIMIT_MS,
  stopSignal: 'SIGTERM',

  installing: 'downloading with Maven if missing',
  install: async (cache) => {
    await keep(place(cache), async (draft) => {
      await writeFile(join(draft, 'pom.xml'), pom);
      await run('mvn', ['-q', '-B', '-f', join(draft, 'pom.xml'), COPY_GOAL, `-DoutputDirectory=${draft}`], {
        limitMs: INSTALL_LIMIT_MS,
        whenMissing: 'kafka is downloaded with Maven, but "mvn" is not on the PATH. Install Maven 3.',
      });
    });
  },

  prepare: async (site) => {
    await mkdir(site.directory, { recursive: true });
    const file = join(site.directory, 'server.properties');
    const isNew = !existsSync(join(site.directory, 'data/meta.properties'));
    if (site.guarded && isNew) await guard(site);
    if (site.guarded && !isGuarded(site)) throw new Error('it was first started without --guarded: run "reset" first');
    const guarded = isGuarded(site) ? await guardedSettings(site) : {};
    await writeFile(
      file,
      `${Object.entries({ ...settings(site), ...guarded })
        .map(([name, value]) => `${name}=${value}`)
        .join('\n')}\n`,
    );
    if (isNew) {
      // One argument: the id may begin with a dash.
      const format = ['kafka.tools.StorageTool', 'format', `--cluster-id=${await clusterId(site)}`, '--config', file];
      const users = isGuarded(site) ? await scramUsers(site) : [];
      await run('java', java(site, ...format, ...users), { limitMs: FORMAT_LIMIT_MS, whenMissing });
    }
    return {
      command: 'java',
      args: java(site, 'kafka.Kafka', file),
      env: process.env,
      cwd: site.directory,
      account: undefined,
    };
  },

  answers: async (site) => {
    const client = new Kafka({
      brokers: [address(site)],
      logLevel: logLevel.NOTHING,
      connectionTimeout: ASK_LIMIT_MS,
      requestTimeout: ASK_LIMIT_MS,
      retry: { retries: 0 },
    });
    const admin = client.admin();
    try {
      await admin.connect();
      const cluster = await admin.describeCluster();
      return cluster.brokers.length === 1 && cluster.clusterId === (await clusterId(site));
    } finally {
      await admin.disconnect();
    }
  },

  addresses: (site) => (isGuarded(site) ? guardedAddresses(site) : Promise.resolve({ KAFKA_BROKERS: address(site) })),
};
