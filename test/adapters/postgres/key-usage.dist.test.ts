import { describe, expect, it } from 'vitest';

import { PostgresKeyUsage } from '../../../src/adapters/postgres/key-usage.js';
import { keyUsageContract } from '../../contracts/key-usage.js';
import { ManualClock } from '../../support/manual-clock.js';
import { TestSchema } from '../../support/postgres.js';

keyUsageContract('The PostgreSQL adapter', async (clock) => {
  const schema = new TestSchema();
  const usage = new PostgresKeyUsage(schema.postgres, clock);
  return {
    usage,
    dispose: async () => {
      await usage[Symbol.asyncDispose]();
      await schema[Symbol.asyncDispose]();
    },
  };
});

describe('The last use of keys in PostgreSQL', () => {
  const [earlier, later] = [new Date('2026-01-01T00:00:00.000Z'), new Date('2026-01-01T00:00:01.000Z')];

  it('is visible to other processes within a minute, as the latest of all processes', async () => {
    await using schema = new TestSchema();
    const clock = new ManualClock();
    await using one = new PostgresKeyUsage(schema.postgres, clock);
    await using other = new PostgresKeyUsage(schema.again(), clock);
    one.touch('a', later);
    other.touch('a', earlier);
    other.touch('b', earlier);
    await clock.advance(59_999);
    await expect.poll(async () => [...(await one.lastUsedAt(['a', 'b']))].length).toBe(2);
    await expect.poll(async () => (await other.lastUsedAt(['a'])).get('a')).toBe(later.toISOString());
    expect((await one.lastUsedAt(['b'])).get('b')).toBe(earlier.toISOString());
  });

  it('is written when the process ends', async () => {
    await using schema = new TestSchema();
    {
      await using usage = new PostgresKeyUsage(schema.postgres, new ManualClock());
      usage.touch('a', later);
    }
    await using usage = new PostgresKeyUsage(schema.again(), new ManualClock());
    expect((await usage.lastUsedAt(['a'])).get('a')).toBe(later.toISOString());
  });
});
