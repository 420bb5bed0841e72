import { describe, expect, it } from 'vitest';

import { PostgresIdempotencyStore } from '../../../src/adapters/postgres/idempotency-store.js';
import { systemRandom } from '../../../src/adapters/system/random.js';
import { answerBudgetContract, idempotencyStoreContract } from '../../contracts/idempotency-store.js';
import { TestSchema } from '../../support/postgres.js';
import { keyed } from '../../support/keyed.js';

/** What the database sees of a process that died before the last sign of life expired. */
const forgetSigns = (schema: TestSchema): Promise<unknown> =>
  schema.query(`UPDATE owners SET alive_until = clock_timestamp() - interval '1 millisecond'`);

/** Ages the stored entries: the clock of the database decides, and no test can set it. */
const age = (schema: TestSchema, ms: number): Promise<unknown> =>
  schema.query(`UPDATE reservations SET expires = expires - ${ms}`);

const openContract = async (budget?: number) => {
  const schema = new TestSchema();
  const stores: PostgresIdempotencyStore[] = [];
  const open = (): PostgresIdempotencyStore => {
    const store = new PostgresIdempotencyStore(schema.again(), systemRandom, budget);
    stores.push(store);
    return store;
  };
  return {
    store: open(),
    later: (ms: number) => age(schema, ms),
    afterDeath: async () => {
      await forgetSigns(schema);
      return open();
    },
    dispose: async () => {
      for (const store of stores) await store[Symbol.asyncDispose]();
      await schema[Symbol.asyncDispose]();
    },
  };
};

idempotencyStoreContract('The PostgreSQL adapter', openContract);
answerBudgetContract('The PostgreSQL adapter', openContract);

describe('Idempotency keys in PostgreSQL', () => {
  const answer = { status: 200, headers: {}, body: null };
  const ran = { kind: 'run', seed: 'seed', resumed: true, done: false };

  it('let one of several processes run a request, and report it as running to the others while that process lives', async () => {
    await using schema = new TestSchema();
    const open = () => new PostgresIdempotencyStore(schema.again(), systemRandom);
    const stores = [open(), open(), open()];
    // Connected first: this tests which process gets a key, not how many connections can be opened in parallel.
    for (const [of, store] of stores.entries()) await store.reserve(keyed('scope', `first-${of}`), 'seed');
    const asked = Array.from({ length: 20 }, (_, n) =>
      Promise.all(stores.map((store, of) => store.reserve(keyed('scope', `key-${n}`), `seed-${of}`))),
    );
    for (const taken of await Promise.all(asked)) {
      expect(taken.map(({ kind }) => kind).sort()).toEqual(['run', 'running', 'running']);
    }
    for (const store of stores) await store[Symbol.asyncDispose]();
  });

  it('are answered by every process once one has the response', async () => {
    await using schema = new TestSchema();
    await using one = new PostgresIdempotencyStore(schema.postgres, systemRandom);
    await using other = new PostgresIdempotencyStore(schema.again(), systemRandom);
    await one.reserve(keyed('scope', 'key'), 'seed');
    await one.complete(keyed('scope', 'key'), answer, 'within-budget');
    expect(await other.reserve(keyed('scope', 'key'), 'new')).toEqual({ kind: 'answered', answer });
  });

  it('are taken over immediately from a process that ended in order', async () => {
    await using schema = new TestSchema();
    const one = new PostgresIdempotencyStore(schema.postgres, systemRandom);
    await one.reserve(keyed('scope', 'key'), 'seed');
    await one[Symbol.asyncDispose]();
    await using other = new PostgresIdempotencyStore(schema.again(), systemRandom);
    expect(await other.reserve(keyed('scope', 'key'), 'new')).toEqual(ran);
  });

  it('are not released by an attempt that another process took over', async () => {
    await using schema = new TestSchema();
    await using slow = new PostgresIdempotencyStore(schema.postgres, systemRandom);
    await using other = new PostgresIdempotencyStore(schema.again(), systemRandom);
    await slow.reserve(keyed('scope', 'key'), 'seed');
    await forgetSigns(schema);
    expect(await other.reserve(keyed('scope', 'key'), 'new')).toEqual(ran);
    await slow.release(keyed('scope', 'key'));
    expect(await slow.reserve(keyed('scope', 'key'), 'new')).toEqual({ kind: 'running' });
    await other.complete(keyed('scope', 'key'), answer, 'within-budget');
    expect(await slow.reserve(keyed('scope', 'key'), 'new')).toEqual({ kind: 'answered', answer });
  });

  it('expire after a day, in the background', async () => {
    await using schema = new TestSchema();
    await using store = new PostgresIdempotencyStore(schema.postgres, systemRandom);
    for (let n = 0; n < 20; n += 1) {
      await store.reserve(keyed('scope', `old-${n}`), 'seed');
      await store.release(keyed('scope', `old-${n}`));
    }
    await age(schema, 24 * 3_600_000);
    await store.reserve(keyed('scope', 'new'), 'seed');
    const count = async () => (await schema.query<{ n: number }>('SELECT count(*) AS n FROM reservations'))[0]?.n;
    await expect.poll(count, { timeout: 10_000 }).toBe(1);
  });

  it('do not expire while a repeat of the request runs, however old they are', async () => {
    await using schema = new TestSchema();
    await using store = new PostgresIdempotencyStore(schema.postgres, systemRandom);
    await store.reserve(keyed('scope', 'key'), 'seed');
    await store.complete(keyed('scope', 'key'), answer, 'never');
    await store.reserve(keyed('scope', 'key'), 'repeat');
    await store.reserve(keyed('scope', 'free'), 'seed');
    await store.release(keyed('scope', 'free'));
    await age(schema, 25 * 3_600_000);
    const count = async () => (await schema.query<{ n: number }>('SELECT count(*) AS n FROM reservations'))[0]?.n;
    await expect.poll(count, { timeout: 10_000 }).toBe(1);
    expect(await store.reserve(keyed('scope', 'key'), 'third')).toEqual({ kind: 'running' });
  });
});
