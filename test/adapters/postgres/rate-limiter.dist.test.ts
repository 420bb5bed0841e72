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

rateLimiterContract('The PostgreSQL adapter', (clock) => new PostgresRateLimiter(newSchema().postgres, clock));

describe('Rate limits in PostgreSQL', () => {
  it('are counted over all processes together, to the request', async () => {
    const schema = newSchema();
    const clock = new ManualClock();
    const limiters = [schema.postgres, schema.again(), schema.again()].map((db) => new PostgresRateLimiter(db, clock));
    const limit = { limit: 50, windowSeconds: 60 };
    const asked = Array.from({ length: 40 }, () => limiters.map((limiter) => limiter.take('key', limit)));
    const decisions = await Promise.all(asked.flat());
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(50);
    expect(new Set(decisions.filter(({ allowed }) => allowed).map(({ remaining }) => remaining)).size).toBe(50);
  });

  it('hold between servers whose clocks differ by seconds', async () => {
    const schema = newSchema();
    const [ahead, behind] = [new ManualClock('2026-01-01T00:00:05.000Z'), new ManualClock()];
    const limit = { limit: 1, windowSeconds: 60 };
    await new PostgresRateLimiter(schema.postgres, ahead).take('key', limit);
    expect(await new PostgresRateLimiter(schema.again(), behind).take('key', limit)).toMatchObject({ allowed: false });
  });

  it('forget windows that are over while requests come', async () => {
    const schema = newSchema();
    const clock = new ManualClock();
    const limiter = new PostgresRateLimiter(schema.postgres, clock);
    const limit = { limit: 5_000, windowSeconds: 60 };
    await Promise.all(Array.from({ length: 60 }, (_, n) => limiter.take(`old-${n}`, limit)));
    await clock.advance(60_000);
    const count = async () => (await schema.query<{ n: number }>('SELECT count(*) AS n FROM rate_windows'))[0]?.n;
    for (let n = 0; n < 1_000; n += 50) {
      await Promise.all(Array.from({ length: 50 }, () => limiter.take('new', limit)));
    }
    await expect.poll(count, { timeout: 10_000 }).toBe(1);
  });
});
