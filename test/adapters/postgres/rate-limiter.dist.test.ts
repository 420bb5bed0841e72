import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';

import { PostgresRateLimiter } from '../../../src/adapters/postgres/rate-limiter.js';
import { rateLimiterContract } from '../../contracts/rate-limiter.js';
import { ManualClock } from '../../support/manual-clock.js';
import { TestSchema } from '../../support/postgres.js';

const schemas: TestSchema[] = [];
const newSchema = (): TestSchema => {
  const schema = new TestSchema();
  schemas.push(schema);
  return schema;
};

afterEach(async () => {
  for (const schema of schemas.splice(0)) await schema[Symbol.asyncDispose]();
});

/** A database clock that tests can set: a table with one row. */
const timed = async (schema: TestSchema) => {
  await schema.query('CREATE TABLE test_clock (ms bigint NOT NULL)');
  await schema.query('INSERT INTO test_clock VALUES (1767225600000)');
  const pass = (ms: number) => schema.query(`UPDATE test_clock SET ms = ms + ${ms}`);
  return { nowMs: sql<number>`(SELECT ms FROM test_clock)`, pass };
};

rateLimiterContract('The PostgreSQL adapter', async () => {
  const schema = newSchema();
  const { nowMs, pass } = await timed(schema);
  const limiter = new PostgresRateLimiter(schema.postgres, new ManualClock(), nowMs);
  return { limiter, later: pass, setClockBy: pass };
});

describe('Rate limits in PostgreSQL', () => {
  it('are counted exactly across all processes', async () => {
    const schema = newSchema();
    const clock = new ManualClock();
    const limiters = [schema.postgres, schema.again(), schema.again()].map((db) => new PostgresRateLimiter(db, clock));
    const limit = { limit: 50, windowSeconds: 60 };
    const asked = Array.from({ length: 40 }, () => limiters.map((limiter) => limiter.take('key', limit)));
    const decisions = await Promise.all(asked.flat());
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(50);
    expect(new Set(decisions.filter(({ allowed }) => allowed).map(({ remaining }) => remaining)).size).toBe(50);
  });

  it.each([5_000, 61_000, 86_400_000])('hold between servers whose clocks differ by %i ms', async (byMs) => {
    const schema = newSchema();
    const [ahead, behind] = [new ManualClock(), new ManualClock()];
    ahead.setBy(byMs);
    const limit = { limit: 1, windowSeconds: 600 };
    const limiters = [new PostgresRateLimiter(schema.postgres, ahead), new PostgresRateLimiter(schema.again(), behind)];
    const allowed = [];
    for (const limiter of [...limiters, ...limiters]) allowed.push((await limiter.take('key', limit)).allowed);
    expect(allowed).toEqual([true, false, false, false]);
  });

  it('drop expired windows while requests arrive', async () => {
    const schema = newSchema();
    const { nowMs, pass } = await timed(schema);
    const limiter = new PostgresRateLimiter(schema.postgres, new ManualClock(), nowMs);
    const limit = { limit: 5_000, windowSeconds: 60 };
    await Promise.all(Array.from({ length: 60 }, (_, n) => limiter.take(`old-${n}`, limit)));
    await pass(60_000);
    const count = async () => (await schema.query<{ n: number }>('SELECT count(*) AS n FROM rate_windows'))[0]?.n;
    for (let n = 0; n < 1_000; n += 50) {
      await Promise.all(Array.from({ length: 50 }, () => limiter.take('new', limit)));
    }
    await expect.poll(count, { timeout: 10_000 }).toBe(1);
  });
});
