import { describe, expect, it } from 'vitest';

import { PostgresLogPlaces } from '../../../src/adapters/postgres/log-places.js';
import { TestSchema } from '../../support/postgres.js';

describe('The positions in the log in PostgreSQL', () => {
  it('are the latest that any process stored, as numbers', async () => {
    await using schema = new TestSchema();
    const [one, other] = [new PostgresLogPlaces(schema.postgres), new PostgresLogPlaces(schema.again())];
    expect(await one.load()).toBeNull();
    const kept = { first: 1, own: 20, place: 2 ** 53 - 1, id: '019aa5b1-7c40-8a3e-9b1c-0d2f4a6b8c1e' };
    await one.keep({ ...kept, place: 30 });
    await other.keep(kept);
    expect(await one.load()).toEqual(kept);
  });
});
