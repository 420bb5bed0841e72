import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { secretProblem } from '../kernel/base/secret-length.js';
import { StartProblem } from '../kernel/base/start-problem.js';
import type { RateLimit } from '../kernel/base/rate-limit.js';
import { STORED_ANSWER_BYTES } from '../ports/idempotency-store.js';
import { OUTCOME_WAIT_MS } from '../ports/process-runtime.js';
import { READ_WAIT_MS } from '../ports/read-models.js';
import type { EmbedderChoice } from '../ports/embedder-choice.js';
import type { KafkaAccess, TemporalAccess } from '../ports/server-access.js';
import { type ArchivesConfig, readArchives } from './archives.js';
import { readEmbedder } from './embedder.js';
import { type CortexConfig, readCortex } from './cortex.js';
import type { Environment } from './env.js';
import {
  areOneTopic,
  checkpointUrl,
  hostAndPort,
  integer,
  plainUrl,
  protocolOf,
  rateLimit,
  topicName,
} from './values.js';
import { type AccessSource, readKafkaAccess, readTemporalAccess } from './server-access.js';

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** What a process of the distributed profile does. Run as many of each as you like. */
export const roles = ['http', 'worker', 'projector', 'relay'] as const;
export type Role = (typeof roles)[number];

/** The addresses of the real servers, and the namespace of everything in them. */
export type DistributedConfig = {
  readonly roles: ReadonlySet<Role>;
  readonly namespace: string;
  readonly eventStoreUrl: string;
  readonly temporalAddress: string;
  readonly temporalNamespace: string;
  /** How many workflows run the turns. */
  readonly turnShards: number;
  readonly kafkaBrokers: readonly string[];
  /** The full name of the topic for programs of others; null: nothing is published. */
  readonly kafkaPublicTopic: string | null;
  /** How topics are made that are not there yet. */
  readonly kafkaNewTopics: { readonly partitions: number; readonly retentionMs: number };
  readonly databaseUrl: string;
  readonly temporalAccess: TemporalAccess;
  readonly kafkaAccess: KafkaAccess;
};

/** The validated settings. */
export type Config = {
  /** Null in the embedded profile. */
  readonly distributed: DistributedConfig | null;
  /** Settings of the distributed profile that are there and not used: this is the embedded one. */
  readonly unused: readonly string[];
  /** Variables that look like settings of this server and are none. */
  readonly unknown: readonly string[];
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** How clients reach the server, without a slash at the end; null is the address that it listens on. */
  readonly publicUrl: string | null;
  /** Absolute. */
  readonly dataDir: string;
  readonly rateLimit: RateLimit | null;
  /** Whether `POST /rules` is open. */
  readonly rulesRegistration: boolean;
  readonly turnDeadlineMs: number;
  /** How long a request waits for an agent's answer, in milliseconds. */
  readonly agentWaitMs: number;
  /** How long a read waits for its read model, in milliseconds. */
  readonly readWaitMs: number;
  /** How long a client may take between the two phases of a soul's exchange, in milliseconds. */
  readonly soulDeadlineMs: number;
  /** The interval at which a tenant's log is signed while it is written to, in milliseconds. */
  readonly checkpointMs: number;
  /** Where checkpoints are handed on to: an http, https or file URL; null: nowhere. */
  readonly checkpointUrl: string | null;
  readonly secret: string | null;
  /** Absolute. */
  readonly secretFile: string | null;
  readonly jwsAlg: 'EdDSA' | 'Ed25519';
  readonly embedder: EmbedderChoice;
  /** How many bytes the kept responses for the Idempotency-Keys of one tenant may take. */
  readonly keptAnswerBytes: number;
  /** How much memory the vectors of minds may take for recalls. */
  readonly recallCacheBytes: number;
  /** The part of the time that goes into embedding texts in the background, above 0 and up to 1. */
  readonly embeddingShare: number;
  /** The share of one processor that ghost sessions may take in one process, above 0 and at most 1. */
  readonly ghostShare: number;
  /** The number of texts that one model server makes at a time for the ghost sessions of one process. */
  readonly ghostTexts: number;
  /** The number of threads that re-evaluate decisions in one process; null: the number of cores. */
  readonly replayThreads: number | null;
  readonly logLevel: LogLevel;
  /** The server's default engine. */
  readonly cortex: CortexConfig;
  readonly archives: ArchivesConfig;
};

/** Names of settings that only the distributed profile reads. */
const ofServers = /^(EVENTSTORE_|TEMPORAL_|KAFKA_|DATABASE_URL$|ANIMA_(ROLES|NAMESPACE|TURN_SHARDS)$)/;
/** What begins like a setting and is read by others: the commands, and the scripts of this repository. */
const ofCommands = ['ANIMA_URL', 'ANIMA_API_KEY', 'ANIMA_SERVERS_DIR', 'ANIMA_SERVERS_CACHE'];
const DEFAULT_HOST = '127.0.0.1';
const DEFAULT_PORT = 8080;
/** Where a server listens when nothing is set; commands look for it there. */
export const DEFAULT_URL = `http://${DEFAULT_HOST}:${String(DEFAULT_PORT)}`;
/** Where a server keeps everything when nothing is set, below the directory that it is started in. */
export const DEFAULT_DATA_DIR = '.anima';

const MAX_PORT = 65_535;
const MAX_PARTITIONS = 1_000;
const MEGABYTE = 1024 * 1024;
/** Room for a mind of 100,000 memories with vectors of 512 numbers, and for many small ones. */
const DEFAULT_RECALL_CACHE_MB = 256;
const MAX_RECALL_CACHE_MB = 1_048_576;
const MAX_KEPT_ANSWERS_MB = 1_048_576;
/** Percent of one core at most. */
const DEFAULT_EMBEDDING_SHARE = 50;
const DEFAULT_GHOST_SHARE = 50;
/** Some model servers make one text after the other: an agent then waits for one of a ghost at most. */
const DEFAULT_GHOST_TEXTS = 1;
const MAX_GHOST_TEXTS = 64;
const MAX_REPLAY_THREADS = 64;
const MINUTE_MS = 60 * 1000;
const DEFAULT_CHECKPOINT_MINUTES = 60;
/** 24 days: a timer cannot wait longer. */
const MAX_CHECKPOINT_MINUTES = 24 * 24 * 60;
const HOUR_MS = 60 * MINUTE_MS;
/** A hundred years. */
const MAX_RETENTION_HOURS = 876_000;
const MAX_TURN_DEADLINE_MS = 30 * 24 * 60 * 60 * 1000;
/** As long as an engine may wait for an outcome (OUTCOME_WAIT_MS). */
const MAX_SOUL_DEADLINE_MS = MAX_TURN_DEADLINE_MS;
const MAX_AGENT_WAIT_MS = OUTCOME_WAIT_MS;
const MAX_READ_WAIT_MS = 60_000;

/** More of them are spread over more workers; fewer make larger batches. */
const DEFAULT_TURN_SHARDS = 2;
const MAX_TURN_SHARDS = 256;

const rolesOf = (text: string): ReadonlySet<Role> | null => {
  const named = text.split(',').map((word) => word.trim());
  const found = roles.filter((role) => named.includes(role));
  return found.length === new Set(named).size ? new Set(found) : null;
};

/**
 * Reads the settings.
 * @param cwd what relative paths start from
 * @param isThere whether a file exists
 * @param read the content of a file; throws when it cannot be read
 * @throws StartProblem that names all problems at once
 */
export const parseConfig = (
  env: Environment,
  cwd: string,
  isThere: (file: string) => boolean = existsSync,
  read: (file: string) => string = (file) => readFileSync(file, 'utf8'),
): Config => {
  const problems: string[] = [];
  const known = new Set(ofCommands);

  /** The value of one variable, or `fallback` when it is absent or wrong; `read` gives null for a wrong one, and `shown` says what is shown of it. */
  const setting = <T>(
    name: string,
    fallback: T,
    expected: string,
    read: (text: string) => T | null,
    shown: (text: string) => string = JSON.stringify,
  ): T => {
    known.add(name);
    const text = env[name]?.trim() ?? '';
    if (text === '') return fallback;
    const value = read(text);
    if (value !== null) return value;
    problems.push(`${name} must be ${expected}, not ${shown(text)}.`);
    return fallback;
  };
  const text = (name: string): string | null => setting<string | null>(name, null, 'text', (value) => value);
  const oneOf = <T extends string>(name: string, words: readonly T[], fallback: T): T =>
    setting(
      name,
      fallback,
      words.length > 2 ? `one of ${words.join(', ')}` : words.map((word) => `"${word}"`).join(' or '),
      (value) => words.find((word) => word === value) ?? null,
    );
  const whole = <T>(name: string, fallback: T, what: string, most: number, least = 1): number | T =>
    setting<number | T>(name, fallback, `${what} from ${least} to ${most}`, (value) => integer(value, least, most));
  const path = (value: string): string => resolve(cwd, value);

  const profile = oneOf('ANIMA_PROFILE', ['embedded', 'distributed'], 'embedded');
  const needed = (
    name: string,
    example: string,
    read: (text: string) => string | null,
    shown?: (text: string) => string,
  ): string => {
    const value = setting(name, '', `a value like ${example}`, read, shown);
    if (value === '' && (env[name]?.trim() ?? '') === '')
      problems.push(`${name} is required in the distributed profile, for example ${example}.`);
    return value;
  };
  const urlOf =
    (...protocols: readonly string[]) =>
    (value: string): string | null =>
      URL.canParse(value) && protocols.includes(new URL(value).protocol) ? value : null;
  const access: AccessSource = { text, oneOf, path, read, problems };
  const distributed = (): DistributedConfig => ({
    roles: setting<ReadonlySet<Role>>('ANIMA_ROLES', new Set(roles), `some of ${roles.join(',')}`, rolesOf),
    namespace: setting(
      'ANIMA_NAMESPACE',
      'anima',
      '1 to 48 letters, digits, "_" or "-", beginning with a letter',
      (value) => (/^[A-Za-z][A-Za-z0-9_-]{0,47}$/.test(value) ? value : null),
    ),
    eventStoreUrl: needed(
      'EVENTSTORE_URL',
      'esdb://127.0.0.1:2113?tls=false',
      urlOf('esdb:', 'esdb+discover:'),
      protocolOf,
    ),
    temporalAddress: needed('TEMPORAL_ADDRESS', '127.0.0.1:7233', (value) => (hostAndPort.test(value) ? value : null)),
    temporalNamespace: setting('TEMPORAL_NAMESPACE', 'default', 'text', (value) => value),
    turnShards: whole('ANIMA_TURN_SHARDS', DEFAULT_TURN_SHARDS, 'a number', MAX_TURN_SHARDS),
    kafkaBrokers: needed('KAFKA_BROKERS', '127.0.0.1:9092', (value) =>
      value.split(',').every((broker) => hostAndPort.test(broker.trim())) ? value : null,
    )
      .split(',')
      .map((broker) => broker.trim()),
    kafkaPublicTopic: setting<string | null>(
      'KAFKA_PUBLIC_TOPIC',
      null,
      '1 to 249 letters, digits, ".", "_" or "-", not beginning with "__"',
      (value) => (topicName.test(value) ? value : null),
    ),
    kafkaNewTopics: {
      partitions: whole('KAFKA_PARTITIONS', 8, 'a number', MAX_PARTITIONS),
      retentionMs: HOUR_MS * whole('KAFKA_RETENTION_HOURS', 168, 'a number of hours', MAX_RETENTION_HOURS),
    },
    databaseUrl: needed(
      'DATABASE_URL',
      'postgres://user:password@127.0.0.1:5432/anima',
      urlOf('postgres:', 'postgresql:'),
      protocolOf,
    ),
    temporalAccess: readTemporalAccess(access),
    kafkaAccess: readKafkaAccess(access),
  });
  if (profile === 'distributed' && text('ANIMA_TURN_HOSTS') !== null) {
    problems.push('ANIMA_TURN_HOSTS is called ANIMA_TURN_SHARDS now; name it so, with the same number.');
  }
  if (oneOf('ANIMA_TIERS', ['off', 'on'], 'off') === 'on') {
    problems.push('ANIMA_TIERS=on: this build stores tiers but cannot activate them; leave the variable out.');
  }
  if (text('ANIMA_CORS_ORIGINS') !== null) {
    problems.push('ANIMA_CORS_ORIGINS: this build does not serve browsers of other origins; leave the variable out.');
  }
  const secret = text('ANIMA_SECRET');
  const secretFile = text('ANIMA_SECRET_FILE');
  if (secret !== null && secretFile !== null) {
    problems.push('ANIMA_SECRET and ANIMA_SECRET_FILE are both set; keep one of them.');
  } else if (secret !== null) {
    const problem = secretProblem(secret, 'ANIMA_SECRET');
    if (problem !== null) problems.push(problem);
  } else if (secretFile !== null && !isThere(path(secretFile))) {
    problems.push(`ANIMA_SECRET_FILE names ${path(secretFile)}, but there is no such file.`);
  }
  const limit = setting(
    'ANIMA_RATE_LIMIT',
    { limit: 100, windowSeconds: 60 },
    '"off" or requests/seconds, for example 100/60',
    rateLimit,
  );

  if (profile === 'distributed' && secret === null && secretFile === null) {
    problems.push(
      'ANIMA_SECRET or ANIMA_SECRET_FILE is required in the distributed profile: every server must have the same secret.',
    );
  }
  const config: Omit<Config, 'unknown'> = {
    unused:
      profile === 'distributed' ? [] : Object.keys(env).filter((name) => ofServers.test(name) && text(name) !== null),
    distributed: profile === 'distributed' ? distributed() : null,
    host: setting('HOST', DEFAULT_HOST, 'a host name or address', (value) =>
      /^[\w.:%-]+$/.test(value) ? value : null,
    ),
    port: whole('PORT', DEFAULT_PORT, 'a number', MAX_PORT, 0),
    publicUrl: setting<string | null>('ANIMA_PUBLIC_URL', null, 'an http or https URL without a query', plainUrl),
    dataDir: setting('ANIMA_DATA_DIR', path(DEFAULT_DATA_DIR), 'a path', path),
    rateLimit: limit === 'off' ? null : limit,
    rulesRegistration: oneOf('ANIMA_RULES_REGISTRATION', ['on', 'off'], 'on') === 'on',
    turnDeadlineMs: whole('ANIMA_TURN_DEADLINE_MS', 900_000, 'a number of milliseconds', MAX_TURN_DEADLINE_MS),
    agentWaitMs: whole('ANIMA_AGENT_WAIT_MS', 12_000, 'a number of milliseconds', MAX_AGENT_WAIT_MS),
    readWaitMs: whole('ANIMA_READ_WAIT_MS', READ_WAIT_MS, 'a number of milliseconds', MAX_READ_WAIT_MS),
    soulDeadlineMs: whole('ANIMA_SOUL_DEADLINE_MS', 3_600_000, 'a number of milliseconds', MAX_SOUL_DEADLINE_MS),
    checkpointMs:
      MINUTE_MS *
      whole('ANIMA_CHECKPOINT_MINUTES', DEFAULT_CHECKPOINT_MINUTES, 'a number of minutes', MAX_CHECKPOINT_MINUTES),
    checkpointUrl: setting<string | null>(
      'ANIMA_CHECKPOINT_URL',
      null,
      'an http or https URL without a name, a password or a query, or a file URL such as file:///var/log/anima-checkpoints',
      checkpointUrl,
      protocolOf,
    ),
    secret,
    secretFile: secretFile === null ? null : path(secretFile),
    jwsAlg: oneOf('ANIMA_JWS_ALG', ['EdDSA', 'Ed25519'], 'EdDSA'),
    embedder: readEmbedder({ ...access, isThere }),
    keptAnswerBytes:
      MEGABYTE *
      whole('ANIMA_KEPT_ANSWERS_MB', STORED_ANSWER_BYTES / MEGABYTE, 'a number of megabytes', MAX_KEPT_ANSWERS_MB),
    recallCacheBytes:
      MEGABYTE * whole('ANIMA_RECALL_CACHE_MB', DEFAULT_RECALL_CACHE_MB, 'a number of megabytes', MAX_RECALL_CACHE_MB),
    embeddingShare: whole('ANIMA_EMBEDDING_SHARE', DEFAULT_EMBEDDING_SHARE, 'a percentage', 100) / 100,
    ghostShare: whole('ANIMA_GHOST_SHARE', DEFAULT_GHOST_SHARE, 'a percentage', 100) / 100,
    ghostTexts: whole('ANIMA_GHOST_TEXTS', DEFAULT_GHOST_TEXTS, 'a number of texts', MAX_GHOST_TEXTS),
    replayThreads: whole('ANIMA_REPLAY_THREADS', null, 'a number of threads', MAX_REPLAY_THREADS),
    logLevel: oneOf('LOG_LEVEL', logLevels, 'info'),
    cortex: readCortex(access, isThere),
    archives: readArchives(access),
  };
  const { kafkaPublicTopic, namespace } = config.distributed ?? {};
  if (kafkaPublicTopic && namespace !== undefined && areOneTopic(kafkaPublicTopic, `${namespace}.events`)) {
    problems.push(
      `KAFKA_PUBLIC_TOPIC must not be ${kafkaPublicTopic}: Kafka takes it for ${namespace}.events, the topic of the projectors; choose another name.`,
    );
  }
  if (problems.length > 0) throw new StartProblem(problems.join('\n'));
  const isUnknown = (name: string): boolean =>
    name.startsWith('ANIMA_') && !known.has(name) && !ofServers.test(name) && env[name]?.trim() !== '';
  return { ...config, unknown: Object.keys(env).filter(isUnknown) };
};
