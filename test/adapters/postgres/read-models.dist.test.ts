import { sql } from 'kysely';
import { describe, expect, it, vi } from 'vitest';

import { PostgresReadModels } from '../../../src/adapters/postgres/read-models.js';
import { firstRows } from '../../../src/adapters/postgres/read-rows.js';
import { systemClock } from '../../../src/adapters/system/clock.js';
import type { Clock } from '../../../src/ports/clock.js';
import type { Changes } from '../../../src/ports/read-model-writer.js';
import { npcs } from '../../../projections/npcs.js';
import { readModelsContract } from '../../contracts/read-models.js';
import { textSearchContract } from '../../contracts/text-search.js';
import { TestSchema } from '../../support/postgres.js';

const open = async (clock: Clock) => {
  const schema = new TestSchema();
  const models = new PostgresReadModels(schema.postgres, clock);
  return {
    models,
    dispose: async () => {
      await models[Symbol.asyncDispose]();
      await schema[Symbol.asyncDispose]();
    },
  };
};

readModelsContract('The PostgreSQL adapter', open);
textSearchContract('The PostgreSQL adapter', open);

const WAIT_MS = 20_000;
const index = { partition: 'p', order: '1', tag: 'live' };
const moving = (stream: string, from: number, to: number, position = to): Changes => ({
  put: [{ key: stream, row: { revision: to }, index }],
  remove: [],
  progress: [{ stream, from, to }],
  parked: [],
  position,
});

/** The read models of one schema in several processes. */
const opened = async (processes: number) => {
  const schema = new TestSchema();
  const models = Array.from({ length: processes }, () => new PostgresReadModels(schema.again(), systemClock));
  const dispose = async (): Promise<void> => {
    for (const each of models) await each[Symbol.asyncDispose]();
    await schema[Symbol.asyncDispose]();
  };
  const [one, other] = models;
  if (one === undefined || other === undefined) throw new Error('two processes at least');
  return { schema, models, one, other, [Symbol.asyncDispose]: dispose };
};

describe('Read models that several processes share', () => {
  it('are opened as one build, even by processes that start together', async () => {
    await using shared = await opened(4);
    const builds = await Promise.all(shared.models.map((models) => models.open(npcs)));
    expect(new Set(builds.map(({ id }) => id)).size).toBe(1);
  });

  it('end a wait on the commit of another process', async () => {
    await using shared = await opened(2);
    const build = await shared.one.open(npcs);
    const waits = Promise.all([
      shared.other.reached(npcs, 's', 3, WAIT_MS),
      shared.other.reachedPosition(npcs, 3, WAIT_MS),
    ]);
    await shared.one.commit(build, moving('s', -1, 3));
    expect(await waits).toEqual([true, true]);
    expect(await shared.other.get(npcs, 's')).toEqual({ revision: 3 });
  });

  it('end a wait even if the notification of the commit is lost', async () => {
    await using shared = await opened(2);
    const build = await shared.one.open(npcs);
    const wait = shared.other.reached(npcs, 's', 3, WAIT_MS);
    await shared.schema.query(`INSERT INTO progress VALUES (${build.id}, 's', 3)`);
    expect(await wait).toBe(true);
  });

  it('show the build that another process swapped in', async () => {
    await using shared = await opened(2);
    const build = await shared.one.open(npcs);
    await shared.one.swapIn(build);
    await shared.one.commit(build, moving('s', -1, 0));
    expect(await shared.other.get(npcs, 's')).toEqual({ revision: 0 });
    const next = await shared.one.begin(npcs);
    await shared.one.commit(next, moving('s', -1, 7));
    const wait = shared.other.reached(npcs, 's', 7, WAIT_MS);
    await shared.one.swapIn(next);
    expect(await wait).toBe(true);
    expect(await shared.other.get(npcs, 's')).toEqual({ revision: 7 });
    await expect(shared.other.commit(build, moving('s', 0, 1))).rejects.toThrow('dropped');
  });

  it('apply every event once while projectors compete for the same streams', async () => {
    await using shared = await opened(3);
    const builds = await Promise.all(shared.models.map((models) => models.open(npcs)));
    const streams = Array.from({ length: 8 }, (_, n) => `s-${n}`);
    const last = 40;
    const written = new Map<string, number>();
    const race = async (models: PostgresReadModels, at: number): Promise<void> => {
      const build = builds[at];
      if (build === undefined) throw new Error('no build');
      for (let turn = 0; ; turn += 1) {
        // Each handles some of the streams, in a different order.
        const mine = streams.filter((_, n) => (n + turn + at) % 3 !== 0);
        if (at === 1) mine.reverse();
        const { rows, streams: standings } = await models.load(build, mine, mine);
        const progress = mine.flatMap((stream) => {
          const from = standings.get(stream)?.revision ?? -1;
          return from >= last ? [] : [{ stream, from, to: from + 1 }];
        });
        if (progress.length === 0) {
          const all = await models.load(build, [], streams);
          if ([...all.streams.values()].every(({ revision }) => revision >= last)) return;
          continue;
        }
        const put = progress.map(({ stream }) => {
          const row = (rows.get(stream) ?? { applied: 0 }) as { applied: number };
          return { key: stream, row: { applied: row.applied + 1 }, index };
        });
        if (await models.commit(build, { put, remove: [], progress, parked: [], position: 0 })) {
          for (const { stream } of progress) written.set(stream, (written.get(stream) ?? 0) + 1);
        }
      }
    };
    await Promise.all(shared.models.map(race));
    for (const stream of streams) {
      expect(await shared.one.get(npcs, stream)).toEqual({ applied: last + 1 });
      expect(written.get(stream)).toBe(last + 1);
    }
  });

  it('keep the furthest position that any projector reported', async () => {
    await using shared = await opened(2);
    const build = await shared.one.open(npcs);
    await shared.one.commit(build, moving('s', -1, 0, 9));
    await shared.other.commit(build, moving('t', -1, 0, 4));
    expect((await shared.one.open(npcs)).position).toBe(9);
  });

  it('keep nothing of dropped builds', async () => {
    await using shared = await opened(2);
    for (let round = 0; round < 3; round += 1) {
      const build = await shared.one.begin(npcs);
      await shared.one.commit(build, moving('s', -1, round));
      await shared.one.swapIn(build);
    }
    const left = async () =>
      (
        await shared.schema.query<{ n: number }>(
          `SELECT (SELECT count(*) FROM rows) + (SELECT count(*) FROM progress) + (SELECT count(*) FROM dropped_builds) AS n`,
        )
      )[0]?.n;
    await expect.poll(left, { timeout: 10_000 }).toBe(2);
    expect(await shared.other.get(npcs, 's')).toEqual({ revision: 2 });
  });

  it('also sweep a build that is dropped while a sweep finds nothing more', async () => {
    await using schema = new TestSchema();
    const postgres = schema.again();
    const run = postgres.run.bind(postgres);
    let goOn = (): void => undefined;
    const heldUp = new Promise<undefined>((resolve) => (goOn = () => resolve(undefined)));
    const foundNothing = new Promise<undefined>((found) => {
      postgres.run = async (work, use) => {
        const result = await run(work, use);
        if (result === false) {
          found(undefined);
          await heldUp;
        }
        return result;
      };
    });
    await using models = new PostgresReadModels(postgres, systemClock);
    await models.open(npcs);
    await foundNothing;
    await models.swapIn(await models.begin(npcs));
    goOn();
    const left = () => schema.query<object>('SELECT id FROM dropped_builds');
    await expect.poll(left, { timeout: 5_000 }).toEqual([]);
  });

  it('accept the longest ids', async () => {
    await using shared = await opened(2);
    const build = await shared.one.open(npcs);
    const npcId = Array.from({ length: 128 }, (_, n) => String.fromCodePoint(0x1f300 + n)).join('');
    const escaped = Array.from(new TextEncoder().encode(npcId), (byte) => `=${byte.toString(16)}`).join('');
    const stream = `npc-${'t'.repeat(128)}.${escaped}`;
    const rows = [
      { key: stream, row: 1, index: { partition: 't'.repeat(128), order: npcId, tag: 'live' } },
      { key: `${stream}/turn`, row: 2, index: { partition: stream, order: '0'.repeat(16), tag: 'awaitingMemories' } },
    ];
    expect(await shared.one.commit(build, { ...moving(stream, -1, 0), put: rows })).toBe(true);
    expect((await shared.other.list(npcs, { partition: stream, direction: 'ascending', limit: 2 })).rows).toHaveLength(
      1,
    );
  });
});

describe('Lists by tag', () => {
  const ROWS = 20_000;
  /** Inserts rows of which one in a thousand has the tag `rare`, as if they were old. */
  const filled = async (schema: TestSchema, build: number): Promise<void> => {
    await schema.query(`
      INSERT INTO rows SELECT ${build}, n::text, 'p', to_char(n, 'FM0000000'), CASE WHEN n % 1000 = 1 THEN 'rare' ELSE 'common' END, '{}'
      FROM generate_series(1, ${ROWS}) AS n`);
  };
  const isIndexed = async (schema: TestSchema) => {
    const [found] = await schema.query<{ valid: boolean | null }>(
      `SELECT (SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('rows_by_tag')) AS valid`,
    );
    return found?.valid === true;
  };

  it.each([true, false])(
    'read only the rows they show, whether or not the table was analysed (%s)',
    async (analysed) => {
      await using shared = await opened(2);
      const build = await shared.one.open(npcs);
      await filled(shared.schema, build.id);
      if (analysed) await shared.schema.query('ANALYZE rows');
      const query = { partition: 'p', tags: ['rare', 'none'], direction: 'descending', limit: 9 } as const;
      const plan = await shared.schema.postgres.run('request', (db) =>
        sql<{ 'QUERY PLAN': unknown }>`EXPLAIN (ANALYZE, FORMAT JSON) ${firstRows(npcs, query)}`.execute(db),
      );
      const text = JSON.stringify(plan.rows);
      expect(text).toContain('rows_by_tag');
      expect(text).not.toMatch(/"Rows Removed by Filter":[1-9]/);
    },
  );

  it('get their index online when rows are older than it, even after a half-built one', async () => {
    await using schema = new TestSchema();
    await schema.query(`SELECT 1`);
    await filled(schema, 1);
    await schema.query('DROP INDEX rows_by_tag');
    await schema.query(`DELETE FROM migrations WHERE name = '010-rows-by-tag'`);
    const again = [schema.again(), schema.again()];
    await Promise.all(again.map((postgres) => postgres.migrate()));
    await vi.waitUntil(() => isIndexed(schema), { timeout: WAIT_MS, interval: 50 });
    await schema.query(`UPDATE pg_index SET indisvalid = false WHERE indexrelid = to_regclass('rows_by_tag')`);
    expect(await isIndexed(schema)).toBe(false);
    await schema.again().migrate();
    await vi.waitUntil(() => isIndexed(schema), { timeout: WAIT_MS, interval: 50 });
  });
});
