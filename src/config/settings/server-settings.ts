import { STORED_ANSWER_BYTES } from '../../ports/idempotency-store.js';
import { OUTCOME_WAIT_MS } from '../../ports/process-runtime.js';
import { READ_WAIT_MS } from '../../ports/read-models.js';
import type { SettingDefinition } from './setting.js';

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

const MAX_MEGABYTES = 1_048_576;
const MEGABYTE = 1024 * 1024;
/** 24 days: a timer cannot wait longer. */
const MAX_CHECKPOINT_MINUTES = 24 * 24 * 60;
/** 30 days, which is also the longest wait for the outcome of a process. */
const MAX_DEADLINE_MS = 30 * 24 * 60 * 60 * 1000;

/** What a prompt has room for (src/features/turns/domain/decision/prompt.ts). */
const MAX_EXCHANGES = 64;
const MAX_PAUSE_MINUTES = 7 * 24 * 60;

/** Settings of the server itself, of security, and of limits. */
export const serverSettings = {
  ANIMA_PROFILE: {
    group: 'server',
    default: 'embedded',
    values: ['embedded', 'distributed'],
    about: 'Where the server keeps its data: in one directory, or on the servers of the distributed profile.',
  },
  HOST: {
    group: 'server',
    default: '127.0.0.1',
    expects: 'a host name or an address',
    about: 'The address on which the server listens.',
  },
  PORT: {
    group: 'server',
    default: '8080',
    min: 0,
    max: 65_535,
    about: 'The port on which the server listens. With 0, the system chooses one.',
  },
  ANIMA_PUBLIC_URL: {
    group: 'server',
    default: null,
    defaultShown: '`http://HOST:PORT`',
    expects: 'an http or https URL without a query',
    about:
      'How clients reach the server; also the issuer of signatures, and the name of the log from its first checkpoint on. All processes of the distributed profile need the same value.',
  },
  ANIMA_DATA_DIR: {
    group: 'server',
    default: '.anima',
    expects: 'a path',
    about:
      'The data directory. In the distributed profile it only holds the owner key that `anima keys bootstrap` and `recover` write.',
  },
  LOG_LEVEL: { group: 'server', default: 'info', values: logLevels, about: 'The least severe level that is logged.' },
  ANIMA_RULES_REGISTRATION: {
    group: 'server',
    default: 'on',
    values: ['on', 'off'],
    about: '`off` makes `POST /rules` respond with 403.',
  },
  ANIMA_UNKNOWN_RULESET: {
    group: 'server',
    default: 'fallback',
    values: ['fallback', 'refuse'],
    about:
      'What happens to a turn whose ruleset is not registered: another one decides, or the request is refused with 422 `RULESET_UNKNOWN`.',
  },
  ANIMA_REPLAY_THREADS: {
    group: 'server',
    default: null,
    defaultShown: 'the number of cores, at most 8',
    min: 1,
    max: 64,
    unit: 'threads',
    about: 'The threads that replay decisions in one process. On Linux they run at low priority.',
  },
  ANIMA_SECRET: {
    group: 'security',
    default: null,
    defaultShown: 'the file `secret` in the data directory, created at the first start',
    expects: 'text',
    about:
      'Hashes API keys, encrypts signing keys and makes the seals of events; at least 32 characters. The distributed profile requires it, with the same value for all processes.',
  },
  ANIMA_SECRET_FILE: {
    group: 'security',
    default: null,
    expects: 'text',
    about: 'A file that contains the secret. Set either this or `ANIMA_SECRET`.',
  },
  ANIMA_JWS_ALG: {
    group: 'security',
    default: 'EdDSA',
    values: ['EdDSA', 'Ed25519'],
    about: 'The name of the algorithm in signatures. `Ed25519` is the newer name of the same algorithm.',
  },
  ANIMA_CHECKPOINT_MINUTES: {
    group: 'security',
    default: '60',
    min: 1,
    max: MAX_CHECKPOINT_MINUTES,
    unit: 'minutes',
    about: 'How often the log of each tenant is signed while events are written.',
  },
  ANIMA_CHECKPOINT_URL: {
    group: 'security',
    default: null,
    expects:
      'an http or https URL without a user, a password or a query, or a file URL such as file:///var/log/anima-checkpoints',
    about: 'Where every checkpoint is published.',
  },
  ANIMA_RATE_LIMIT: {
    group: 'limits',
    default: '100/60',
    expects: '"off" or requests/seconds, for example 100/60',
    about: 'How many requests each API key may send in how many seconds.',
  },
  ANIMA_PLAYER_RATE_LIMIT: {
    group: 'limits',
    default: '30/60',
    expects: '"off" or requests/seconds, for example 30/60',
    about: 'How many requests each player may send with player tokens in how many seconds.',
  },
  ANIMA_TURN_DEADLINE_MS: {
    group: 'limits',
    default: '900000',
    min: 1,
    max: MAX_DEADLINE_MS,
    unit: 'milliseconds',
    about: 'How long a turn stays open.',
  },
  ANIMA_AGENT_WAIT_MS: {
    group: 'limits',
    default: '12000',
    min: 1,
    max: OUTCOME_WAIT_MS,
    unit: 'milliseconds',
    about: 'How long a request waits for the answer of an agent.',
  },
  ANIMA_CONVERSATION_EXCHANGES: {
    group: 'limits',
    default: '12',
    min: 0,
    max: MAX_EXCHANGES,
    unit: 'exchanges',
    about: 'How many earlier exchanges with the same player a prompt shows.',
  },
  ANIMA_CONVERSATION_PAUSE_MINUTES: {
    group: 'limits',
    default: '30',
    min: 1,
    max: MAX_PAUSE_MINUTES,
    unit: 'minutes',
    about: 'After a pause of this length, a new conversation begins.',
  },
  ANIMA_READ_WAIT_MS: {
    group: 'limits',
    default: String(READ_WAIT_MS),
    min: 1,
    max: 60_000,
    unit: 'milliseconds',
    about: 'How long lists and recalls wait for the events that were just written.',
  },
  ANIMA_KEPT_ANSWERS_MB: {
    group: 'limits',
    default: String(STORED_ANSWER_BYTES / MEGABYTE),
    min: 1,
    max: MAX_MEGABYTES,
    unit: 'megabytes',
    about: 'Disk space for the stored responses to the `Idempotency-Key`s of one tenant.',
  },
  ANIMA_SOUL_DEADLINE_MS: {
    group: 'limits',
    default: '3600000',
    min: 1,
    max: MAX_DEADLINE_MS,
    unit: 'milliseconds',
    about: 'How much time a client has between the two phases of the export or import of a soul.',
  },
  ANIMA_ARCHIVE_DAYS: {
    group: 'limits',
    default: null,
    defaultShown: 'for ever',
    min: 1,
    max: 36_500,
    unit: 'days',
    about: 'How long the built-in archive keeps the souls that were uploaded to it.',
  },
  ANIMA_ACCESS_QUEUE: {
    group: 'limits',
    default: '10000',
    min: 100,
    max: 50_000,
    about:
      'How many accesses to histories, different in key, operation, NPC or minute, wait in a process to be recorded. More are not recorded, but counted.',
  },
  ANIMA_TIERS: {
    group: 'reserved',
    default: 'off',
    values: ['off', 'on'],
    about: 'Reserved for tiers. `on` is refused, because tiers cannot be activated yet.',
  },
  ANIMA_CORS_ORIGINS: {
    group: 'reserved',
    default: null,
    expects: 'text',
    about: 'Reserved for browsers from other origins. Any value is refused.',
  },
} as const satisfies Readonly<Record<string, SettingDefinition>>;
