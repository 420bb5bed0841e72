import { expect, it } from 'vitest';

import { PostgresSnapshots } from '../../../src/adapters/postgres/snapshots.js';
import { snapshotsContract } from '../../contracts/snapshots.js';
import { TestSchema } from '../../support/postgres.js';

snapshotsContract('The PostgreSQL adapter', async () => {
  const schema = new TestSchema();
  return {
    snapshots: new PostgresSnapshots(schema.postgres),
    dispose: () => schema[Symbol.asyncDispose](),
  };
});

it('snapshots in PostgreSQL are visible to other processes, and found by an index', async () => {
  await using schema = new TestSchema();
  const saved = { stream: 'npc-studio.one', version: 1, revision: 1_000, hash: 'h', atMs: 5, state: '{}' };
  await new PostgresSnapshots(schema.postgres).save(saved);
  expect(await new PostgresSnapshots(schema.again()).latest('npc-studio.one', 1, { timeMs: 5 })).toEqual(saved);
  const plan = async (bound: string) =>
    JSON.stringify(
      await schema.query(
        `EXPLAIN SELECT state FROM snapshots WHERE stream = 'npc-studio.one' AND version = 1 AND ${bound} LIMIT 1`,
      ),
    );
  expect(await plan('revision <= 7 ORDER BY revision DESC')).toMatch(/Index Scan Backward using snapshots_pkey/);
  expect(await plan('at_ms <= 7 ORDER BY at_ms DESC, revision DESC')).toMatch(
    /Index Scan Backward using snapshots_by_time/,
  );
});
