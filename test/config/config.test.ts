import { describe, expect, it } from 'vitest';

import { parseConfig } from '../../src/config/config.js';
import { settingNames } from '../../src/config/settings.js';
import { problemsOf } from './problems-of.js';

const parse = (env: Record<string, string>) => parseConfig(env, '/srv/game', (file) => file === '/run/secrets/anima');
const problems = problemsOf(parse);

/** The variables that `archives.test.ts` covers. */
const noArchives = {
  ...{ arweaveGateway: null, bundler: null, gateways: [], ipfsApiUrl: null, ipfsGateway: null, soulTrust: null },
};

describe('the configuration', () => {
  it('names the server settings that the embedded profile does not use', () => {
    const { unused } = parse({
      ...engines,
      ANIMA_PROFILE: 'embedded',
      ANIMA_ROLES: 'http',
      TEMPORAL_API_KEY: ' ',
      PORT: '1',
    });
    expect(unused).toEqual(['EVENTSTORE_URL', 'TEMPORAL_ADDRESS', 'KAFKA_BROKERS', 'DATABASE_URL', 'ANIMA_ROLES']);
    expect(parseConfig(engines, '/srv').unused).toEqual([]);
  });

  it('names unknown variables that start like settings, and no setting [11.1b]', () => {
    const others = { ANIMA_URL: 'x', ANIMA_API_KEY: 'x', ANIMA_SERVERS_DIR: 'x', ANIMA_EMPTY: ' ', HOME: 'x' };
    expect(parse({ ...others, ANIMA_RATELIMIT: 'off', ANIMA_GHOSTSHARE: '5' }).unknown).toEqual([
      'ANIMA_RATELIMIT',
      'ANIMA_GHOSTSHARE',
    ]);
    const set = Object.fromEntries(settingNames.map((name) => [name, '0']));
    for (const [name, value] of Object.entries(set)) {
      // A problem with a value shows that it was read.
      if (problems({ [name]: value }).length === 0)
        expect([name, parse({ [name]: value }).unknown]).toEqual([name, []]);
    }
  });

  it('names misspelt settings of the servers, and no variable of other software [11.1b]', () => {
    const others = {
      KAFKA_HEAP_OPTS: '-Xmx1g',
      KAFKA_OPTS: 'x',
      TEMPORAL_CLI_ENV: 'x',
      DATABASE_USER: 'x',
      KAFKAESQUE: 'x',
    };
    const misspelt = { KAFKA_BROKER: 'x', TEMPORAL_ADDRESSES: 'x', EVENTSTORE_URI: 'x', DATABASE_ULR: 'x' };
    const parsed = parse({ ...others, ...misspelt, KAFKA_BROKERS: '127.0.0.1:9092' });
    expect(parsed.unknown).toEqual(Object.keys(misspelt));
    expect(parsed.unused).toEqual(['KAFKA_BROKERS']);
    expect(parse({ ...misspelt, KAFKA_BROKER: ' ' }).unknown).not.toContain('KAFKA_BROKER');
  });

  it('has a default for everything [1.1a, 1.4a, 1.7m, 1.8c, 2.6b, 6.4a, 7.1n, 8.6c]', () => {
    expect(parse({})).toEqual({
      unused: [],
      unknown: [],
      distributed: null,
      host: '127.0.0.1',
      port: 8080,
      publicUrl: null,
      dataDir: '/srv/game/.anima',
      rateLimit: { limit: 100, windowSeconds: 60 },
      playerRateLimit: { limit: 30, windowSeconds: 60 },
      rulesRegistration: true,
      refusesUnknownRuleset: false,
      turnDeadlineMs: 900_000,
      agentWaitMs: 12_000,
      conversation: { exchanges: 12, pauseMs: 1_800_000 },
      readWaitMs: 2000,
      soulDeadlineMs: 3_600_000,
      archiveDays: null,
      accessQueue: 10_000,
      checkpointMs: 3_600_000,
      checkpointUrl: null,
      archives: noArchives,
      keptAnswerBytes: 64 * 1024 * 1024,
      embeddingCacheBytes: 16 * 1024 * 1024,
      recallCacheBytes: 256 * 1024 * 1024,
      embeddingShare: 0.5,
      ghostShare: 0.5,
      ghostTexts: 1,
      cortexWaiting: 64,
      replayThreads: null,
      secret: null,
      secretFile: null,
      jwsAlg: 'EdDSA',
      embedder: { kind: 'builtin' },
      logLevel: 'info',
      cortex: { kind: 'scripted' },
    });
  });

  it('treats empty values as absent [11.1b]', () => {
    expect(parse({ PORT: '', HOST: ' ', ANIMA_RATE_LIMIT: '', ANIMA_TIERS: '' })).toEqual(parse({}));
  });

  it('reads every variable [1.8c, 7.1n, 8.6c]', () => {
    const config = parse({
      PORT: '0',
      HOST: '::1',
      ANIMA_PROFILE: 'embedded',
      ANIMA_DATA_DIR: 'minds',
      ANIMA_RATE_LIMIT: '600/30',
      ANIMA_PLAYER_RATE_LIMIT: 'off',
      ANIMA_TIERS: 'off',
      ANIMA_RULES_REGISTRATION: 'off',
      ANIMA_UNKNOWN_RULESET: 'refuse',
      ANIMA_TURN_DEADLINE_MS: '2000',
      ANIMA_AGENT_WAIT_MS: '3000',
      ANIMA_CONVERSATION_EXCHANGES: '20',
      ANIMA_CONVERSATION_PAUSE_MINUTES: '10',
      ANIMA_READ_WAIT_MS: '5000',
      ANIMA_SOUL_DEADLINE_MS: '60000',
      ANIMA_ARCHIVE_DAYS: '90',
      ANIMA_ACCESS_QUEUE: '500',
      ANIMA_CHECKPOINT_MINUTES: '5',
      ANIMA_CHECKPOINT_URL: 'file:///var/log/checkpoints',
      ANIMA_KEPT_ANSWERS_MB: '4',
      ANIMA_EMBEDDING_CACHE_MB: '4',
      ANIMA_RECALL_CACHE_MB: '8',
      ANIMA_EMBEDDING_SHARE: '25',
      ANIMA_GHOST_SHARE: '10',
      ANIMA_GHOST_TEXTS: '64',
      ANIMA_CORTEX_WAITING: '200',
      ANIMA_REPLAY_THREADS: '4',
      ANIMA_PUBLIC_URL: 'https://minds.example/base/',
      ANIMA_SECRET_FILE: '/run/secrets/anima',
      ANIMA_JWS_ALG: 'Ed25519',
      LOG_LEVEL: 'warn',
    });
    expect(config).toEqual({
      unused: [],
      unknown: [],
      distributed: null,
      host: '::1',
      port: 0,
      publicUrl: 'https://minds.example/base',
      dataDir: '/srv/game/minds',
      rateLimit: { limit: 600, windowSeconds: 30 },
      playerRateLimit: null,
      rulesRegistration: false,
      refusesUnknownRuleset: true,
      turnDeadlineMs: 2000,
      agentWaitMs: 3000,
      conversation: { exchanges: 20, pauseMs: 600_000 },
      readWaitMs: 5000,
      soulDeadlineMs: 60_000,
      archiveDays: 90,
      accessQueue: 500,
      checkpointMs: 300_000,
      checkpointUrl: 'file:///var/log/checkpoints',
      archives: noArchives,
      keptAnswerBytes: 4 * 1024 * 1024,
      embeddingCacheBytes: 4 * 1024 * 1024,
      recallCacheBytes: 8 * 1024 * 1024,
      embeddingShare: 0.25,
      ghostShare: 0.1,
      ghostTexts: 64,
      cortexWaiting: 200,
      replayThreads: 4,
      secret: null,
      secretFile: '/run/secrets/anima',
      jwsAlg: 'Ed25519',
      embedder: { kind: 'builtin' },
      logLevel: 'warn',
      cortex: { kind: 'scripted' },
    });
    expect(parse({ ANIMA_RATE_LIMIT: 'off' }).rateLimit).toBeNull();
    const secret = 's3'.repeat(16);
    expect(parse({ ANIMA_SECRET: secret }).secret).toBe(secret);
  });

  it.each([
    ['PORT', ['-1', '65536', '80.5', 'http', '0x50']],
    ['HOST', ['a b', 'http://a', '*']],
    ['ANIMA_PROFILE', ['cloud', 'Embedded']],
    ['ANIMA_RATE_LIMIT', ['100', '100/', '/60', '0/60', '100/0', '100/60/1', 'on', '-1/60']],
    ['ANIMA_TIERS', ['yes']],
    ['ANIMA_RULES_REGISTRATION', ['true']],
    ['ANIMA_TURN_DEADLINE_MS', ['0', '15m', '9999999999999']],
    ['ANIMA_AGENT_WAIT_MS', ['0', '12s', '60001']],
    ['ANIMA_READ_WAIT_MS', ['0', '2s', '60001']],
    ['ANIMA_ACCESS_QUEUE', ['99', '-1', '1.5', '50001', 'all']],
    ['ANIMA_ARCHIVE_DAYS', ['0', '-1', '1.5', '36501', 'never']],
    ['ANIMA_SOUL_DEADLINE_MS', ['0', '1h', '9999999999999']],
    ['ANIMA_KEPT_ANSWERS_MB', ['0', '-1', 'all']],
    ['ANIMA_EMBEDDING_CACHE_MB', ['0', '-1', 'all']],
    ['ANIMA_RECALL_CACHE_MB', ['0', '-1', 'all']],
    ['ANIMA_EMBEDDING_SHARE', ['0', '101', '0.5']],
    ['ANIMA_CHECKPOINT_MINUTES', ['0', '1h', '34561']],
    ['ANIMA_GHOST_SHARE', ['0', '101', '0.5']],
    ['ANIMA_GHOST_TEXTS', ['0', '65', 'all']],
    ['ANIMA_CORTEX_WAITING', ['0', '10001', 'all']],
    ['ANIMA_REPLAY_THREADS', ['0', '65', 'all']],
    ['ANIMA_PUBLIC_URL', ['minds.example', 'ftp://a', 'http://a/?x=1', 'http://u:p@a/']],
    ['ANIMA_JWS_ALG', ['RS256']],
    ['LOG_LEVEL', ['loud']],
  ])('refuses a wrong %s and names it with its value', (name, values) => {
    for (const value of values) {
      const [only, ...more] = problems({ [name]: value });
      expect(only).toContain(`${name} must be `);
      expect(only).toContain(JSON.stringify(value));
      expect(more).toEqual([]);
    }
  });

  const engines = {
    ANIMA_PROFILE: 'distributed',
    ANIMA_SECRET: 'a secret that every server shares',
    EVENTSTORE_URL: 'esdb://127.0.0.1:2113?tls=false',
    TEMPORAL_ADDRESS: '127.0.0.1:7233',
    KAFKA_BROKERS: '127.0.0.1:9092, kafka-2:9092',
    DATABASE_URL: 'postgres://anima:secret@127.0.0.1:5432/anima',
  };

  it("reads the addresses of the distributed profile's servers, with every role by default", () => {
    expect(parseConfig(engines, '/srv').distributed).toEqual({
      roles: new Set(['http', 'worker', 'projector', 'relay']),
      namespace: 'anima',
      eventStoreUrl: 'esdb://127.0.0.1:2113?tls=false',
      temporalAddress: '127.0.0.1:7233',
      temporalNamespace: 'default',
      turnShards: 2,
      kafkaBrokers: ['127.0.0.1:9092', 'kafka-2:9092'],
      kafkaPublicTopic: null,
      kafkaNewTopics: { partitions: 8, retentionMs: 7 * 24 * 3_600_000 },
      databaseUrl: 'postgres://anima:secret@127.0.0.1:5432/anima',
      temporalAccess: { tls: null, apiKey: null, payloadKeys: { encrypting: null, all: [] } },
      kafkaAccess: { tls: null, sasl: null },
    });
    const some = parseConfig(
      { ...engines, ANIMA_ROLES: 'http, projector', ANIMA_NAMESPACE: 'tests' },
      '/srv',
    ).distributed;
    expect([some?.roles, some?.namespace]).toEqual([new Set(['http', 'projector']), 'tests']);
  });

  it('reads how many workflows run the turns', () => {
    const turnShards = (env: Record<string, string>) =>
      parseConfig({ ...engines, ...env }, '/srv').distributed?.turnShards;
    expect(turnShards({ ANIMA_TURN_SHARDS: '1' })).toBe(1);
    expect(turnShards({ ANIMA_TURN_SHARDS: '256' })).toBe(256);
  });

  it('names the new name of a renamed setting', () => {
    expect(problems({ ...engines, ANIMA_TURN_HOSTS: '8' })).toEqual([
      'ANIMA_TURN_HOSTS was renamed to ANIMA_TURN_SHARDS. Rename the variable and keep its value.',
    ]);
  });

  it.each(['0', '257', '-1', '1.5', 'two'])('refuses %s as ANIMA_TURN_SHARDS', (value) => {
    const [only, ...more] = problems({ ...engines, ANIMA_TURN_SHARDS: value });
    expect(only).toContain('ANIMA_TURN_SHARDS must be ');
    expect(only).toContain(JSON.stringify(value));
    expect(more).toEqual([]);
  });

  it('reads the name of a public topic, and how topics are made [11.7f]', () => {
    const { kafkaPublicTopic, kafkaNewTopics } =
      parseConfig(
        { ...engines, KAFKA_PUBLIC_TOPIC: 'minds.public', KAFKA_PARTITIONS: '3', KAFKA_RETENTION_HOURS: '1' },
        '/srv',
      ).distributed ?? {};
    expect(kafkaPublicTopic).toBe('minds.public');
    expect(kafkaNewTopics).toEqual({ partitions: 3, retentionMs: 3_600_000 });
  });

  it.each([
    ['KAFKA_PUBLIC_TOPIC', ['a b', '..', 'é', 'x'.repeat(250), '__consumer_offsets']],
    ['KAFKA_PARTITIONS', ['0', '-1', '1001', 'eight']],
    ['KAFKA_RETENTION_HOURS', ['0', '-1', '1.5', '168h']],
  ])('refuses a wrong %s', (name, values) => {
    for (const value of values) {
      expect(problems({ ...engines, [name]: value })).toEqual([expect.stringContaining(`${name} must be `)]);
    }
  });

  // Kafka's metrics write both as "_", so it refuses a topic that differs from another only in that.
  it.each([
    ['town', 'town.events'],
    ['town', 'town_events'],
    ['old_town', 'old.town.events'],
  ])('does not publish to the topic of the projectors of %s, by whatever name: %s [11.7e]', (namespace, topic) => {
    expect(problems({ ...engines, ANIMA_NAMESPACE: namespace, KAFKA_PUBLIC_TOPIC: topic })).toEqual([
      expect.stringContaining('KAFKA_PUBLIC_TOPIC'),
    ]);
    expect(problems({ ...engines, ANIMA_NAMESPACE: namespace, KAFKA_PUBLIC_TOPIC: `${topic}.public` })).toEqual([]);
  });

  it('names every setting that the distributed profile lacks or cannot use [11.1a, 11.1e]', () => {
    const lacking = problems({ ANIMA_PROFILE: 'distributed' });
    for (const name of ['ANIMA_SECRET', 'EVENTSTORE_URL', 'TEMPORAL_ADDRESS', 'KAFKA_BROKERS', 'DATABASE_URL']) {
      expect(lacking.filter((line) => line.startsWith(name))).toHaveLength(1);
    }
    expect(
      problems({ ...engines, ANIMA_ROLES: 'http,cook', KAFKA_BROKERS: 'kafka-1:9092,', DATABASE_URL: 'mysql://x' }),
    ).toHaveLength(3);
  });

  it('reports all problems together [11.1a]', () => {
    const found = problems({ PORT: 'x', LOG_LEVEL: 'loud', ANIMA_TIERS: 'maybe' });
    expect(found.map((line) => line.split(' ')[0]).sort()).toEqual(['ANIMA_TIERS', 'LOG_LEVEL', 'PORT']);
  });

  it.each([
    ['ANIMA_TIERS', 'on', 'cannot activate them'],
    ['ANIMA_CORS_ORIGINS', 'https://studio.example', 'does not support browsers from other origins'],
  ])('explains why %s=%s has no effect [1.3f, 1.4e]', (name, value, words) => {
    const [only, ...more] = problems({ [name]: value });
    expect(only).toContain(words);
    expect(more).toEqual([]);
  });

  it('reports a short secret and a missing secret file along with the other problems', () => {
    const short = problems({ ANIMA_SECRET: 'hush', PORT: 'x' });
    expect(short).toHaveLength(2);
    expect(short[0]).toMatch(/^ANIMA_SECRET is too short. Use at least 32 /);
    expect(short.join()).not.toContain('hush');
    expect(problems({ ANIMA_SECRET_FILE: 'none', PORT: 'x' })).toEqual([
      'ANIMA_SECRET_FILE names /srv/game/none, but that file does not exist.',
      expect.stringContaining('PORT'),
    ]);
  });

  it('lists the possible values of a setting', () => {
    expect(problems({ LOG_LEVEL: 'loud' })).toEqual([
      'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent, not "loud".',
    ]);
  });

  it('does not choose between two secrets, and shows neither [11.1a, 11.1c]', () => {
    const [only] = problems({ ANIMA_SECRET: 'hush', ANIMA_SECRET_FILE: '/x' });
    expect(only).toBe('ANIMA_SECRET and ANIMA_SECRET_FILE are both set. Keep only one of them.');
  });

  it.each([
    ['EVENTSTORE_URL', 'esbd://anima:hush@store.example:2113'],
    ['EVENTSTORE_URL', 'esdb://anima:hush@store.example:port'],
    ['EVENTSTORE_URL', 'anima:hush@store.example:2113'],
    ['DATABASE_URL', 'mysql://anima:hush@db.example/anima'],
    ['DATABASE_URL', 'postgres://anima:hush@db.example:port/anima'],
    ['DATABASE_URL', 'anima:hush@db.example/anima'],
    ['DATABASE_URL', 'hush'],
  ])('shows no password of a wrong %s', (name, value) => {
    const [only, ...more] = problems({ ...engines, [name]: value });
    expect(only).toContain(`${name} must be `);
    expect(only).not.toContain('hush');
    expect(more).toEqual([]);
    const [protocol, rest] = value.split('//');
    if (rest !== undefined) expect(only).toContain(`${protocol ?? ''}//`);
  });
});
