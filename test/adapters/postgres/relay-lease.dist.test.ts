import { PostgresRelayLease } from '../../../src/adapters/postgres/relay-lease.js';
import { HOLDS_MS, relayLeaseContract } from '../../contracts/relay-lease.js';
import { TestSchema } from '../../support/postgres.js';

relayLeaseContract('PostgreSQL', () => {
  const schema = new TestSchema();
  return {
    lease: () => new PostgresRelayLease(schema.again(), HOLDS_MS),
    lapse: () => new Promise((resolve) => setTimeout(resolve, HOLDS_MS + 100)),
    [Symbol.asyncDispose]: () => schema[Symbol.asyncDispose](),
  };
});
