import { describe, expect, it } from 'vitest';

import { PostgresRelayLease } from '../../../src/adapters/postgres/relay-lease.js';
import { HOLDS_MS, relayLeaseContract } from '../../contracts/relay-lease.js';
import { TestSchema } from '../../support/postgres.js';

relayLeaseContract('PostgreSQL', () => {
  const schema = new TestSchema();
  return {
    lease: () => PostgresRelayLease.ofEvents(schema.again(), [], HOLDS_MS),
    lapse: () => new Promise((resolve) => setTimeout(resolve, HOLDS_MS + 100)),
    [Symbol.asyncDispose]: () => schema[Symbol.asyncDispose](),
  };
});

relayLeaseContract('PostgreSQL, for a public topic', () => {
  const schema = new TestSchema();
  const made = PostgresRelayLease.ofEvents(schema.again(), ['minds'], HOLDS_MS).take('the relay');
  const lease = (): PostgresRelayLease => PostgresRelayLease.ofPublic(schema.again(), 'minds', HOLDS_MS);
  return {
    lease: () => {
      const place = lease();
      return {
        holdsMs: place.holdsMs,
        take: async (holder) => made.then(() => place.take(holder)),
        keep: (holder, position) => place.keep(holder, position),
        release: (holder) => place.release(holder),
      };
    },
    lapse: () => new Promise((resolve) => setTimeout(resolve, HOLDS_MS + 100)),
    [Symbol.asyncDispose]: () => schema[Symbol.asyncDispose](),
  };
});

describe('The position of a public topic', () => {
  it('starts at the relay when the topic is switched on, and continues where it stopped when it is switched on again', async () => {
    await using schema = new TestSchema();
    const publicPlace = PostgresRelayLease.ofPublic(schema.again(), 'minds');
    const before = PostgresRelayLease.ofEvents(schema.again());
    expect(await before.take('one')).toBe(0);
    await before.keep('one', 7);
    expect(await publicPlace.take('one'), 'nobody has switched it on').toBeNull();
    const standby = PostgresRelayLease.ofEvents(schema.again(), ['minds']);
    expect(await standby.take('two')).toBeNull();
    await before.keep('one', 9);
    expect(await publicPlace.take('two')).toBe(7);
    await publicPlace.keep('two', 8);
    await publicPlace.release('two');
    await before.keep('one', 20);
    await standby.take('two');
    expect(await publicPlace.take('three')).toBe(8);
  });

  it('starts at the beginning when all positions are lost, however far the relay gets first', async () => {
    await using schema = new TestSchema();
    const relay = PostgresRelayLease.ofEvents(schema.again(), ['minds']);
    await relay.take('one');
    await relay.keep('one', 100);
    expect(await PostgresRelayLease.ofPublic(schema.again(), 'minds').take('one')).toBe(0);
  });
});
