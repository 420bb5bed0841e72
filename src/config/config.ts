import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { areWithin } from '../kernel/base/slips.js';
import { secretProblem } from '../kernel/base/secret-length.js';
import { StartProblem } from '../kernel/base/start-problem.js';
import type { RateLimit } from '../kernel/base/rate-limit.js';
import type { EmbedderChoice } from '../ports/embedder-choice.js';
import type { KafkaAccess, TemporalAccess } from '../ports/server-access.js';
import { type ArchivesConfig, readArchives } from './archives.js';
import { readEmbedder } from './embedder.js';
import { type CortexConfig, readCortex } from './cortex.js';
import type { Environment } from './env.js';
import { readKafkaAccess, readTemporalAccess } from './server-access.js';
import { createSettingReader, type SettingReader } from './setting-reader.js';
import { isSettingName, settingNames, settings } from './settings.js';
import { type Role, roles } from './settings/distributed-settings.js';
import type { LogLevel } from './settings/server-settings.js';
import { areOneTopic, checkpointUrl, hostAndPort, plainUrl, protocolOf, rateLimit, topicName } from './values.js';

/** The addresses of the servers, and the namespace of all names on them. */
export type DistributedConfig = {
  readonly roles: ReadonlySet<Role>;
  readonly namespace: string;
  readonly eventStoreUrl: string;
  readonly temporalAddress: string;
  readonly temporalNamespace: string;
  /** How many workflows run the turns. */
  readonly turnShards: number;
  readonly kafkaBrokers: readonly string[];
  /** The full name of the public topic; null publishes nothing. */
  readonly kafkaPublicTopic: string | null;
  /** How missing topics are created. */
  readonly kafkaNewTopics: { readonly partitions: number; readonly retentionMs: number };
  readonly databaseUrl: string;
  readonly temporalAccess: TemporalAccess;
  readonly kafkaAccess: KafkaAccess;
};

/** The validated settings. */
export type Config = {
  /** Null in the embedded profile. */
  readonly distributed: DistributedConfig | null;
  /** Settings of the distributed profile that are set although this is the embedded profile. */
  readonly unused: readonly string[];
  /** Unknown variables that look like settings of this server. */
  readonly unknown: readonly string[];
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** How clients reach the server, without a trailing slash; null stands for the address on which it listens. */
  readonly publicUrl: string | null;
  /** Absolute. */
  readonly dataDir: string;
  readonly rateLimit: RateLimit | null;
  readonly playerRateLimit: RateLimit | null;
  /** Whether `POST /rules` is open. */
  readonly rulesRegistration: boolean;
  readonly refusesUnknownRuleset: boolean;
  readonly turnDeadlineMs: number;
  /** How long a request waits for an agent's answer, in milliseconds. */
  readonly agentWaitMs: number;
  /** What a prompt shows of the conversation before it. */
  readonly conversation: { readonly exchanges: number; readonly pauseMs: number };
  /** How long a read waits for its read model, in milliseconds. */
  readonly readWaitMs: number;
  /** How long a client may take between the two phases of a soul's exchange, in milliseconds. */
  readonly soulDeadlineMs: number;
  /** How long the built-in archive keeps public payloads, in days; null keeps them for ever. */
  readonly archiveDays: number | null;
  /** How many different accesses to histories wait to be recorded. */
  readonly accessQueue: number;
  /** The interval at which a tenant's log is signed while it is written to, in milliseconds. */
  readonly checkpointMs: number;
  /** Where checkpoints are published: an http, https or file URL, or null. */
  readonly checkpointUrl: string | null;
  readonly secret: string | null;
  /** Absolute. */
  readonly secretFile: string | null;
  readonly jwsAlg: 'EdDSA' | 'Ed25519';
  readonly embedder: EmbedderChoice;
  /** How many bytes the kept responses for the Idempotency-Keys of one tenant may take. */
  readonly keptAnswerBytes: number;
  /** The memory limit for the vectors of the texts that were embedded last. */
  readonly embeddingCacheBytes: number;
  /** The memory limit for the vectors of minds that recall. */
  readonly recallCacheBytes: number;
  /** The share of the time for embedding texts in the background, above 0 and up to 1. */
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
  /** How many turns of agents wait in one process for an engine that is down. */
  readonly cortexWaiting: number;
  readonly archives: ArchivesConfig;
};

const defaultText = (name: 'HOST' | 'PORT' | 'ANIMA_DATA_DIR'): string => settings[name].default ?? '';
/** Where a server listens if nothing is set; commands look for it there. */
export const DEFAULT_URL = `http://${defaultText('HOST')}:${defaultText('PORT')}`;
/** The data directory if nothing is set, below the directory in which the server is started. */
export const DEFAULT_DATA_DIR = defaultText('ANIMA_DATA_DIR');

const MEGABYTE = 1024 * 1024;
const MINUTE_MS = 60 * 1000;
const HOUR_MS = 60 * MINUTE_MS;

const rolesOf = (text: string): ReadonlySet<Role> | null => {
  const named = text.split(',').map((word) => word.trim());
  const found = roles.filter((role) => named.includes(role));
  return found.length === new Set(named).size ? new Set(found) : null;
};

const matching =
  (pattern: RegExp) =>
  (text: string): string | null =>
    pattern.test(text) ? text : null;

const urlOf =
  (...protocols: readonly string[]) =>
  (text: string): string | null =>
    URL.canParse(text) && protocols.includes(new URL(text).protocol) ? text : null;

const brokersOf = (text: string): readonly string[] => text.split(',').map((broker) => broker.trim());

const readDistributed = (reader: SettingReader): DistributedConfig => {
  const { value, optional, required, whole, text, problems } = reader;
  if (text('ANIMA_TURN_HOSTS') !== null) {
    problems.push('ANIMA_TURN_HOSTS was renamed to ANIMA_TURN_SHARDS. Rename the variable and keep its value.');
  }
  if (text('ANIMA_SECRET') === null && text('ANIMA_SECRET_FILE') === null) {
    problems.push(
      'ANIMA_SECRET or ANIMA_SECRET_FILE is required in the distributed profile: every server must use the same secret.',
    );
  }
  const namespace = value('ANIMA_NAMESPACE', matching(/^[A-Za-z][A-Za-z0-9_-]{0,47}$/));
  const kafkaPublicTopic = optional('KAFKA_PUBLIC_TOPIC', matching(topicName));
  if (kafkaPublicTopic !== null && areOneTopic(kafkaPublicTopic, `${namespace}.events`)) {
    problems.push(
      `KAFKA_PUBLIC_TOPIC must not be ${kafkaPublicTopic}: Kafka treats it as the same topic as ${namespace}.events, the internal topic of the projectors. Choose another name.`,
    );
  }
  const areBrokers = (given: string): string | null =>
    brokersOf(given).every((broker) => hostAndPort.test(broker)) ? given : null;
  return {
    roles: value('ANIMA_ROLES', rolesOf),
    namespace,
    eventStoreUrl: required('EVENTSTORE_URL', urlOf('esdb:', 'esdb+discover:'), protocolOf),
    temporalAddress: required('TEMPORAL_ADDRESS', matching(hostAndPort)),
    temporalNamespace: value('TEMPORAL_NAMESPACE', (given) => given),
    turnShards: whole('ANIMA_TURN_SHARDS'),
    kafkaBrokers: brokersOf(required('KAFKA_BROKERS', areBrokers)),
    kafkaPublicTopic,
    kafkaNewTopics: {
      partitions: whole('KAFKA_PARTITIONS'),
      retentionMs: HOUR_MS * whole('KAFKA_RETENTION_HOURS'),
    },
    databaseUrl: required('DATABASE_URL', urlOf('postgres:', 'postgresql:'), protocolOf),
    temporalAccess: readTemporalAccess(reader),
    kafkaAccess: readKafkaAccess(reader),
  };
};

const readSecret = ({ text, path, isThere, problems }: SettingReader): Pick<Config, 'secret' | 'secretFile'> => {
  const secret = text('ANIMA_SECRET');
  const secretFile = text('ANIMA_SECRET_FILE');
  if (secret !== null && secretFile !== null) {
    problems.push('ANIMA_SECRET and ANIMA_SECRET_FILE are both set. Keep only one of them.');
  } else if (secret !== null) {
    const problem = secretProblem(secret, 'ANIMA_SECRET');
    if (problem !== null) problems.push(problem);
  } else if (secretFile !== null && !isThere(path(secretFile))) {
    problems.push(`ANIMA_SECRET_FILE names ${path(secretFile)}, but that file does not exist.`);
  }
  return { secret, secretFile: secretFile === null ? null : path(secretFile) };
};

/** Refuses settings of parts that are not built. */
const refuseReserved = ({ choice, text, problems }: SettingReader): void => {
  if (choice('ANIMA_TIERS') === 'on') {
    problems.push('ANIMA_TIERS=on: this build stores tiers but cannot activate them. Remove the variable.');
  }
  if (text('ANIMA_CORS_ORIGINS') !== null) {
    problems.push('ANIMA_CORS_ORIGINS: this build does not support browsers from other origins. Remove the variable.');
  }
};

/** Names that begin like settings of the servers. Other software reads such names as well. */
const ofServers = /^(EVENTSTORE|TEMPORAL|KAFKA|DATABASE)_/;
/** How many letters may differ between a misspelt name and a setting. */
const SLIPS = 2;

/** Whether a variable was probably meant as a setting, but is none. */
const isUnknown = (name: string): boolean => {
  if (isSettingName(name)) return false;
  if (name.startsWith('ANIMA_')) return true;
  return ofServers.test(name) && settingNames.some((known) => areWithin(SLIPS, name, known));
};

/**
 * Reads the settings.
 * @param cwd the directory from which relative paths start
 * @param isThere whether a file exists
 * @param read the content of a file; throws if it cannot be read
 * @throws StartProblem that lists all problems at once
 */
export const parseConfig = (
  env: Environment,
  cwd: string,
  isThere: (file: string) => boolean = existsSync,
  read: (file: string) => string = (file) => readFileSync(file, 'utf8'),
): Config => {
  const path = (file: string): string => resolve(cwd, file);
  const reader = createSettingReader(env, { path, read, isThere });
  const { value, optional, whole, optionalWhole, choice, problems } = reader;
  refuseReserved(reader);
  const secrets = readSecret(reader);
  const limit = value('ANIMA_RATE_LIMIT', rateLimit);
  const playerLimit = value('ANIMA_PLAYER_RATE_LIMIT', rateLimit);
  const isDistributed = choice('ANIMA_PROFILE') === 'distributed';
  const given = Object.keys(env).filter((name) => env[name]?.trim() !== '');
  const ofDistributed = (name: string): boolean => isSettingName(name) && settings[name].profile === 'distributed';
  const config: Config = {
    unused: isDistributed ? [] : given.filter(ofDistributed),
    unknown: given.filter(isUnknown),
    distributed: isDistributed ? readDistributed(reader) : null,
    host: value('HOST', matching(/^[\w.:%-]+$/)),
    port: whole('PORT'),
    publicUrl: optional('ANIMA_PUBLIC_URL', plainUrl),
    dataDir: value('ANIMA_DATA_DIR', path),
    rateLimit: limit === 'off' ? null : limit,
    playerRateLimit: playerLimit === 'off' ? null : playerLimit,
    rulesRegistration: choice('ANIMA_RULES_REGISTRATION') === 'on',
    refusesUnknownRuleset: choice('ANIMA_UNKNOWN_RULESET') === 'refuse',
    turnDeadlineMs: whole('ANIMA_TURN_DEADLINE_MS'),
    agentWaitMs: whole('ANIMA_AGENT_WAIT_MS'),
    conversation: {
      exchanges: whole('ANIMA_CONVERSATION_EXCHANGES'),
      pauseMs: MINUTE_MS * whole('ANIMA_CONVERSATION_PAUSE_MINUTES'),
    },
    readWaitMs: whole('ANIMA_READ_WAIT_MS'),
    soulDeadlineMs: whole('ANIMA_SOUL_DEADLINE_MS'),
    archiveDays: optionalWhole('ANIMA_ARCHIVE_DAYS'),
    accessQueue: whole('ANIMA_ACCESS_QUEUE'),
    checkpointMs: MINUTE_MS * whole('ANIMA_CHECKPOINT_MINUTES'),
    checkpointUrl: optional('ANIMA_CHECKPOINT_URL', checkpointUrl, protocolOf),
    ...secrets,
    jwsAlg: choice('ANIMA_JWS_ALG'),
    embedder: readEmbedder(reader),
    keptAnswerBytes: MEGABYTE * whole('ANIMA_KEPT_ANSWERS_MB'),
    embeddingCacheBytes: MEGABYTE * whole('ANIMA_EMBEDDING_CACHE_MB'),
    recallCacheBytes: MEGABYTE * whole('ANIMA_RECALL_CACHE_MB'),
    embeddingShare: whole('ANIMA_EMBEDDING_SHARE') / 100,
    ghostShare: whole('ANIMA_GHOST_SHARE') / 100,
    ghostTexts: whole('ANIMA_GHOST_TEXTS'),
    replayThreads: optionalWhole('ANIMA_REPLAY_THREADS'),
    logLevel: choice('LOG_LEVEL'),
    cortex: readCortex(reader),
    cortexWaiting: whole('ANIMA_CORTEX_WAITING'),
    archives: readArchives(reader),
  };
  if (problems.length > 0) throw new StartProblem(problems.join('\n'));
  return config;
};
