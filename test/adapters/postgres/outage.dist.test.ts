import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { PostgresIdempotencyStore } from '../../../src/adapters/postgres/idempotency-store.js';
import { PostgresKeyUsage } from '../../../src/adapters/postgres/key-usage.js';
import { Postgres } from '../../../src/adapters/postgres/open.js';
import { PostgresRateLimiter } from '../../../src/adapters/postgres/rate-limiter.js';
import { PostgresReadModels } from '../../../src/adapters/postgres/read-models.js';
import { systemClock } from '../../../src/adapters/system/clock.js';
import { systemRandom } from '../../../src/adapters/system/random.js';
import { npcs } from '../../../projections/npcs.js';
import { ManualClock } from '../../support/manual-clock.js';
import { TestSchema } from '../../support/postgres.js';
import { TcpRelay } from '../../support/tcp-relay.js';
import { keyed } from '../../support/keyed.js';

const away = { code: 'DATABASE_UNAVAILABLE', retryAfter: 1 };
const WAIT_MS = 20_000;
const changes = { put: [], remove: [], progress: [{ stream: 's', from: -1, to: 3 }], parked: [], position: 3 };
const answer = { status: 200, headers: {}, body: null };
const all = { partition: 'p', direction: 'ascending', limit: 10 } as const;

describe('While PostgreSQL is away', () => {
  let schema: TestSchema;
  let relay: TcpRelay;
  let postgres: Postgres;
  let models: PostgresReadModels;
  let keys: PostgresIdempotencyStore;

  beforeEach(async () => {
    schema = new TestSchema();
    const url = new URL(schema.url);
    relay = new TcpRelay({ host: url.hostname, port: Number(url.port) });
    await relay.open();
    url.hostname = '127.0.0.1';
    url.port = String(relay.port);
    postgres = schema.again(url.href);
    models = new PostgresReadModels(postgres, systemClock);
    keys = new PostgresIdempotencyStore(postgres, systemRandom);
  });

  afterEach(async () => {
    relay.silence(false);
    await relay.close();
    await models[Symbol.asyncDispose]();
    await keys[Symbol.asyncDispose]();
    await schema[Symbol.asyncDispose]();
  });

  const refusedEverywhere = async (): Promise<void> => {
    await Promise.all([
      expect(postgres.ping()).rejects.toMatchObject(away),
      expect(models.get(npcs, 'a')).rejects.toMatchObject(away),
      expect(models.list(npcs, all)).rejects.toMatchObject(away),
      expect(models.reached(npcs, 's', 3, WAIT_MS)).rejects.toMatchObject(away),
      expect(models.reachedPosition(npcs, 3, WAIT_MS)).rejects.toMatchObject(away),
      expect(keys.reserve(keyed('scope', 'other'), 'seed')).rejects.toMatchObject(away),
    ]);
  };

  const worksAgain = async (): Promise<void> => {
    await expect
      .poll(
        () =>
          postgres.ping().then(
            () => true,
            () => false,
          ),
        { timeout: WAIT_MS },
      )
      .toBe(true);
    const build = await models.open(npcs);
    const wait = models.reached(npcs, 's', 3, WAIT_MS);
    expect(await models.commit(build, changes)).toBe(true);
    expect(await wait).toBe(true);
  };

  it('every operation is refused with Retry-After, and works again when the database is back', async () => {
    await models.open(npcs);
    await keys.reserve(keyed('scope', 'key'), 'seed');
    await relay.close();
    await refusedEverywhere();
    await relay.open();
    await worksAgain();
    expect(await keys.reserve(keyed('scope', 'key'), 'new')).toEqual({ kind: 'running' });
  });

  it('an unresponsive server is given up, and its connections are not reused', async () => {
    await models.open(npcs);
    await keys.reserve(keyed('scope', 'key'), 'seed');
    relay.silence(true);
    await refusedEverywhere();
    relay.silence(false);
    await worksAgain();
  });

  it('a process starts, and works once the database is up', async () => {
    await relay.close();
    await refusedEverywhere();
    await expect(postgres.migrate()).rejects.toMatchObject(away);
    await relay.open();
    await worksAgain();
  });

  it('a waiting reader is refused when its connection breaks', async () => {
    const build = await models.open(npcs);
    const refused = expect(models.reached(npcs, 's', 3, WAIT_MS)).rejects.toMatchObject(away);
    await relay.close();
    await refused;
    expect(build.live).toBe(false);
  });

  it('a response that could not be stored releases its key to a repeat, in this and in other processes', async () => {
    await keys.reserve(keyed('scope', 'key'), 'seed');
    await relay.close();
    await expect(keys.complete(keyed('scope', 'key'), answer, 'within-budget')).rejects.toMatchObject(away);
    await relay.open();
    await using other = new PostgresIdempotencyStore(schema.again(), systemRandom);
    const taken = () => other.reserve(keyed('scope', 'key'), 'new');
    await expect.poll(taken, { timeout: WAIT_MS }).toEqual({ kind: 'run', seed: 'seed', resumed: true, done: false });
  });

  it('each process counts requests alone, and with the others again when the database is back', async () => {
    const clock = new ManualClock();
    const limiter = new PostgresRateLimiter(postgres, clock);
    const other = new PostgresRateLimiter(schema.again(), clock);
    const limit = { limit: 2, windowSeconds: 600 };
    await limiter.take('key', limit);
    await relay.close();
    const local = [];
    for (let n = 0; n < 3; n += 1) local.push((await limiter.take('key', limit)).allowed);
    expect(local).toEqual([true, true, false]);
    await relay.open();
    expect(await other.take('key', limit)).toMatchObject({ allowed: true, remaining: 0 });
    const allowed = async () => (await limiter.take('fresh', { limit: 1_000_000, windowSeconds: 60 })).remaining;
    const shared = async () =>
      (await schema.query<{ n: number }>(`SELECT count(*) AS n FROM rate_windows WHERE subject = 'fresh'`))[0]?.n;
    await expect.poll(async () => ((await allowed()) > 0 ? shared() : 0), { timeout: WAIT_MS }).toBe(1);
    expect(await limiter.take('key', limit)).toMatchObject({ allowed: false });
  });

  it('the last uses of keys are dropped without affecting requests', async () => {
    const clock = new ManualClock();
    await using usage = new PostgresKeyUsage(postgres, clock);
    await relay.close();
    usage.touch('a', clock.now());
    await clock.advance(60_000);
    await expect(usage.lastUsedAt(['a'])).rejects.toMatchObject(away);
    await relay.open();
    usage.touch('b', clock.now());
    await expect.poll(async () => (await usage.lastUsedAt(['b'])).size, { timeout: WAIT_MS }).toBe(1);
  });
});

describe('A connection that the server ends', () => {
  it('is replaced without failing later calls', async () => {
    await using schema = new TestSchema();
    const postgres = schema.again();
    const models = new PostgresReadModels(postgres, systemClock);
    const build = await models.open(npcs);
    await models.reached(npcs, 's', 0, 0);
    await schema.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'anima ${schema.namespace}' AND pid <> pg_backend_pid()`);
    await expect.poll(() => models.get(npcs, 'a').catch(() => 'away'), { timeout: WAIT_MS }).toBeNull();
    const wait = models.reached(npcs, 's', 3, WAIT_MS);
    await models.commit(build, changes);
    expect(await wait).toBe(true);
    await models[Symbol.asyncDispose]();
  });
});

describe('A schema', () => {
  it('is migrated by one of several processes that start together', async () => {
    await using schema = new TestSchema();
    await Promise.all(Array.from({ length: 6 }, () => schema.again().migrate()));
    const [{ n } = { n: 0 }] = await schema.query<{ n: number }>('SELECT count(*) AS n FROM migrations');
    expect(n).toBeGreaterThan(0);
  });

  it('of a newer version fails the start with a message, and is left unchanged', async () => {
    await using schema = new TestSchema();
    await schema.query(`INSERT INTO migrations (name) VALUES ('999-later')`);
    await expect(schema.again().migrate()).rejects.toThrow(/created by a newer version \(999-later\)/);
  });

  it('in an unusable database fails the start with a message', async () => {
    await using schema = new TestSchema();
    const url = new URL(schema.url);
    url.pathname = '/nobody-made-this';
    await expect(schema.again(url.href).migrate()).rejects.toThrow(/The database cannot be used: .*does not exist/);
  });

  it('keeps acknowledged data, even if the role or the address relaxes commits', async () => {
    await using schema = new TestSchema();
    const url = new URL(schema.url);
    url.searchParams.set('options', '-c synchronous_commit=off');
    const postgres = schema.again(url.href);
    const shown = await postgres.run('request', (db) =>
      sql<{ synchronous_commit: string }>`SHOW synchronous_commit`.execute(db),
    );
    expect(shown.rows).toEqual([{ synchronous_commit: 'on' }]);
  });

  it('has the name of the namespace [11.1g]', async () => {
    await using schema = new TestSchema();
    await schema.postgres.migrate();
    expect(await schema.query('SELECT current_schema() AS name')).toEqual([{ name: schema.namespace }]);
  });

  it('must have a name that needs no quoting', () => {
    const named = (namespace: string, url = 'postgres://127.0.0.1/x') =>
      new Postgres({ url, namespace, log: schemaLog });
    for (const name of ['', 'a"b', 'pg_x', '1a', 'a b', 'x'.repeat(64)]) {
      expect(() => named(name)).toThrow('ANIMA_NAMESPACE');
    }
    expect(() => named('a', 'not an address')).toThrow('DATABASE_URL');
  });
});

const schemaLog = {
  isLevelEnabled: () => false,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
