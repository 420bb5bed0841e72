import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { AclOperationTypes, AclPermissionTypes, AclResourceTypes, type AclEntry, ResourcePatternTypes } from 'kafkajs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { closeClient, type KafkaSettings, openKafkaClient, pingBrokers } from '../../../src/adapters/kafka/client.js';
import { KafkaFeed } from '../../../src/adapters/kafka/consumer.js';
import { KafkaFeedWriter } from '../../../src/adapters/kafka/producer.js';
import { MemoryEventStore } from '../../support/memory/event-store.js';
import { type KafkaAccess, type SaslAccess, saslMechanisms } from '../../../src/ports/server-access.js';
import { appendRounds, readerOf, writeAll } from '../../contracts/event-feed.js';
import { openCertificates, tlsAccessOf } from '../../support/certificates.js';
import { randomNamespace } from '../../support/dist-env.js';
import { keptLog } from '../../support/kafka.js';
import { openGuardedServers, type OwnServers } from '../../support/own-servers.js';

/** What every refusal contains. */
const NAMED = 'check KAFKA_BROKERS, KAFKA_TLS*, KAFKA_SASL*';
const poll = { timeout: 60_000, interval: 50 };

describe('A Kafka that requires authentication', () => {
  let servers: OwnServers;
  let certificates: Awaited<ReturnType<typeof openCertificates>>;
  let password = '';
  const inAccess = (file: string): string => join(servers.directory, 'kafka/access', file);
  const ours = () => ({ certificate: inAccess('authority.pem'), key: inAccess('authority.key') });
  const readers: { stop(): Promise<void> }[] = [];

  beforeAll(async () => {
    servers = await openGuardedServers('kafka');
    certificates = await openCertificates();
    password = await readFile(inAccess('password'), 'utf8');
  });
  afterEach(async () => {
    await Promise.all(readers.splice(0).map((reader) => reader.stop()));
  });
  afterAll(async () => {
    await certificates[Symbol.asyncDispose]();
    await servers[Symbol.asyncDispose]();
  });

  /** The refusals of this kind in the log of the broker. */
  const listener = async (name: 'PLAINTEXT' | 'SSL' | 'SASL_SSL'): Promise<string> => {
    const text = await readFile(join(servers.directory, 'kafka/server.properties'), 'utf8');
    const found = new RegExp(`^advertised\\.listeners=(?:.*,)?${name}://([^,\\n]+)`, 'm').exec(text)?.[1];
    if (found === undefined) throw new Error(`there is no listener ${name}`);
    return found;
  };
  const settingsOf = (broker: string, access?: KafkaAccess): KafkaSettings & { log: ReturnType<typeof keptLog> } => ({
    brokers: [broker],
    namespace: randomNamespace(),
    log: keptLog(),
    ...(access === undefined ? {} : { access }),
  });
  const sasl = (over: Partial<SaslAccess> = {}): SaslAccess => ({
    mechanism: 'scram-sha-512',
    username: 'anima',
    password,
    ...over,
  });
  /** Writes events to the topic and reads them back. */
  const goThrough = async (settings: KafkaSettings): Promise<void> => {
    const store = new MemoryEventStore();
    await appendRounds(store, 3, 2);
    await using session = await new KafkaFeedWriter(settings).open();
    await writeAll(session, store);
    const reader = readerOf(new KafkaFeed(settings));
    readers.push(reader);
    await expect.poll(() => reader.links.flat().filter(({ event }) => event !== null).length, poll).toBe(6);
  };

  it.each(saslMechanisms)('accepts clients with the password over TLS, by %s [11.6d]', async (mechanism) => {
    const settings = settingsOf(await listener('SASL_SSL'), {
      tls: await tlsAccessOf(ours()),
      sasl: sasl({ mechanism }),
    });
    await pingBrokers(settings);
    await goThrough(settings);
  });

  it('accepts clients with a certificate', async () => {
    const client = { certificate: inAccess('client.pem'), key: inAccess('client.key') };
    const settings = settingsOf(await listener('SSL'), { tls: await tlsAccessOf(ours(), client), sasl: null });
    await pingBrokers(settings);
    await goThrough(settings);
  });

  it('refuses all others, with a message that names the settings', async () => {
    const [guarded, byCertificate, plain] = await Promise.all(
      (['SASL_SSL', 'SSL', 'PLAINTEXT'] as const).map(listener),
    );
    const tls = await tlsAccessOf(ours());
    const refusalOf = (broker = '', access?: KafkaAccess): Promise<string> =>
      pingBrokers(settingsOf(broker, access)).then(() => 'let in', String);
    const wrong = await refusalOf(guarded, { tls, sasl: sasl({ password: 'not this one' }) });
    expect(wrong).toContain(NAMED);
    expect(wrong).not.toContain('not this one');
    const refused = [
      refusalOf(guarded, { tls, sasl: sasl({ mechanism: 'plain', username: 'nobody' }) }),
      refusalOf(guarded, { tls: await tlsAccessOf(certificates.other), sasl: sasl() }),
      refusalOf(guarded, { tls: await tlsAccessOf(null), sasl: sasl() }),
      refusalOf(guarded, { tls, sasl: null }),
      refusalOf(guarded),
      refusalOf(plain, { tls, sasl: sasl() }),
      refusalOf(byCertificate, { tls: await tlsAccessOf(ours(), null), sasl: null }),
      refusalOf(byCertificate, { tls: await tlsAccessOf(ours(), certificates.stranger), sasl: null }),
    ];
    for (const refusal of await Promise.all(refused)) expect(refusal).toContain(NAMED);
  });

  it('requires exactly the rights that the documentation lists', async () => {
    const tls = await tlsAccessOf(ours());
    const broker = await listener('SASL_SSL');
    const settings = settingsOf(broker, { tls, sasl: sasl({ username: 'guest' }) });
    const topic = `${settings.namespace}.events`;
    await expect(new KafkaFeedWriter(settings).open()).rejects.toThrow(NAMED);

    const admin = openKafkaClient(settingsOf(broker, { tls, sasl: sasl() })).admin();
    await admin.connect();
    const right = (resourceType: AclResourceTypes, resourceName: string, operation: AclOperationTypes): AclEntry => ({
      resourceType,
      resourceName,
      resourcePatternType: ResourcePatternTypes.LITERAL,
      principal: 'User:guest',
      host: '*',
      operation,
      permissionType: AclPermissionTypes.ALLOW,
    });
    const ofTopic = [AclOperationTypes.CREATE, AclOperationTypes.DESCRIBE, AclOperationTypes.WRITE];
    await admin.createAcls({ acl: ofTopic.map((operation) => right(AclResourceTypes.TOPIC, topic, operation)) });
    const writer = await new KafkaFeedWriter(settings).open();
    await writer[Symbol.asyncDispose]();

    const refused = readerOf(new KafkaFeed(settings));
    const said = () => settings.log.said.map(({ details }) => String((details as { err?: unknown }).err));
    await expect.poll(() => said().join(), poll).toContain(NAMED);
    await refused.stop();

    await admin.createAcls({
      acl: [
        right(AclResourceTypes.TOPIC, topic, AclOperationTypes.READ),
        right(AclResourceTypes.GROUP, `${settings.namespace}.projector`, AclOperationTypes.READ),
      ],
    });
    await closeClient(admin);
    await pingBrokers(settings);
    await goThrough(settings);
  });
});
