import { saslMechanisms } from '../../ports/server-access.js';
import type { SettingDefinition } from './setting.js';

/** What a process of the distributed profile does. Run as many processes of each role as you like. */
export const roles = ['http', 'worker', 'projector', 'relay'] as const;
export type Role = (typeof roles)[number];

/** A hundred years. */
const MAX_RETENTION_HOURS = 876_000;
const profile = 'distributed';
const TEXT = 'text';

/** Settings that only the distributed profile reads. */
export const distributedSettings = {
  ANIMA_ROLES: {
    group: 'distributed',
    profile,
    default: roles.join(','),
    expects: `some of ${roles.join(',')}`,
    about: 'What this process does.',
  },
  ANIMA_NAMESPACE: {
    group: 'distributed',
    profile,
    default: 'anima',
    expects: '1 to 48 letters, digits, "_" or "-", starting with a letter',
    about:
      'The prefix of streams, topics, groups, the schema and the task queue, so that several systems can share servers.',
  },
  ANIMA_TURN_SHARDS: {
    group: 'distributed',
    profile,
    default: '2',
    min: 1,
    max: 256,
    about:
      'How many Temporal workflows (shards) run the turns; about twice the number of workers. All processes need the same value.',
  },
  ANIMA_TURN_HOSTS: {
    group: 'reserved',
    profile,
    default: null,
    expects: TEXT,
    about: 'The old name of `ANIMA_TURN_SHARDS`. Any value is refused.',
  },
  EVENTSTORE_URL: {
    group: 'event store',
    profile,
    default: null,
    required: 'esdb://127.0.0.1:2113?tls=false',
    about: 'The connection string of EventStoreDB.',
  },
  TEMPORAL_ADDRESS: {
    group: 'Temporal',
    profile,
    default: null,
    required: '127.0.0.1:7233',
    about: 'The host and port of Temporal.',
  },
  TEMPORAL_NAMESPACE: {
    group: 'Temporal',
    profile,
    default: 'default',
    expects: TEXT,
    about: 'The namespace in Temporal.',
  },
  TEMPORAL_TLS: {
    group: 'Temporal',
    profile,
    default: 'off',
    values: ['off', 'on'],
    about: 'Whether connections use TLS. The files below are PEM, require `on`, and are read once at the start.',
  },
  TEMPORAL_TLS_CA_FILE: {
    group: 'Temporal',
    profile,
    default: null,
    defaultShown: 'the public authorities of Node',
    expects: TEXT,
    about: 'The trusted certificate authorities.',
  },
  TEMPORAL_TLS_CERT_FILE: {
    group: 'Temporal',
    profile,
    default: null,
    expects: TEXT,
    about: 'The client certificate.',
  },
  TEMPORAL_TLS_KEY_FILE: {
    group: 'Temporal',
    profile,
    default: null,
    expects: TEXT,
    about: 'The private key of the client certificate, without a password.',
  },
  TEMPORAL_TLS_SERVER_NAME: {
    group: 'Temporal',
    profile,
    default: null,
    defaultShown: 'the host of the address',
    expects: 'a host name',
    about: 'The name in the certificate of the server.',
  },
  TEMPORAL_API_KEY: {
    group: 'Temporal',
    profile,
    default: null,
    expects: TEXT,
    about: 'The API key of Temporal Cloud. Requires `TEMPORAL_TLS=on`.',
  },
  TEMPORAL_API_KEY_FILE: {
    group: 'Temporal',
    profile,
    default: null,
    expects: TEXT,
    about: 'A file that contains this key.',
  },
  TEMPORAL_PAYLOAD_KEY: {
    group: 'Temporal',
    profile,
    default: null,
    expects: TEXT,
    about:
      'Keys of 32 bytes in base64 or hex, separated by commas or white space. The first encrypts what Temporal stores, all decrypt. With `plain` in front, none encrypts.',
  },
  TEMPORAL_PAYLOAD_KEY_FILE: {
    group: 'Temporal',
    profile,
    default: null,
    expects: TEXT,
    about: 'A file that contains these keys.',
  },
  KAFKA_BROKERS: {
    group: 'Kafka',
    profile,
    default: null,
    required: '127.0.0.1:9092',
    about: 'The host and port of each broker, separated by commas.',
  },
  KAFKA_PUBLIC_TOPIC: {
    group: 'Kafka',
    profile,
    default: null,
    expects: '1 to 249 letters, digits, ".", "_" or "-", not starting with "__"',
    about: 'The full name of a topic that publishes the events of minds to other programs.',
  },
  KAFKA_PARTITIONS: {
    group: 'Kafka',
    profile,
    default: '8',
    min: 1,
    max: 1_000,
    about: 'The number of partitions of new topics. Existing topics keep theirs.',
  },
  KAFKA_RETENTION_HOURS: {
    group: 'Kafka',
    profile,
    default: '168',
    min: 1,
    max: MAX_RETENTION_HOURS,
    unit: 'hours',
    about: 'How long new topics keep their messages.',
  },
  KAFKA_TLS: {
    group: 'Kafka',
    profile,
    default: 'off',
    values: ['off', 'on'],
    about: 'Whether connections use TLS. The files below are PEM, require `on`, and are read once at the start.',
  },
  KAFKA_TLS_CA_FILE: {
    group: 'Kafka',
    profile,
    default: null,
    defaultShown: 'the public authorities of Node',
    expects: TEXT,
    about: 'The trusted certificate authorities.',
  },
  KAFKA_TLS_CERT_FILE: { group: 'Kafka', profile, default: null, expects: TEXT, about: 'The client certificate.' },
  KAFKA_TLS_KEY_FILE: {
    group: 'Kafka',
    profile,
    default: null,
    expects: TEXT,
    about: 'The private key of the client certificate, without a password.',
  },
  KAFKA_SASL_MECHANISM: {
    group: 'Kafka',
    profile,
    default: null,
    values: saslMechanisms,
    about:
      'How the user proves its identity. Set it together with a user and a password; `plain` requires `KAFKA_TLS=on`.',
  },
  KAFKA_SASL_USERNAME: { group: 'Kafka', profile, default: null, expects: TEXT, about: 'The user.' },
  KAFKA_SASL_PASSWORD: { group: 'Kafka', profile, default: null, expects: TEXT, about: 'The password.' },
  KAFKA_SASL_PASSWORD_FILE: {
    group: 'Kafka',
    profile,
    default: null,
    expects: TEXT,
    about: 'A file that contains the password.',
  },
  DATABASE_URL: {
    group: 'PostgreSQL',
    profile,
    default: null,
    required: 'postgres://user:password@127.0.0.1:5432/anima',
    about: 'The connection string of PostgreSQL.',
  },
} as const satisfies Readonly<Record<string, SettingDefinition>>;
