import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { Database } from '../../../src/adapters/embedded/database.js';
import { EmbeddedReadModels } from '../../../src/adapters/embedded/read-models.js';
import { listStatement } from '../../../src/adapters/embedded/read-model-tables.js';
import { openReadsFile } from '../../../src/adapters/embedded/reads-file.js';
import { MemoryEventStore } from '../../support/memory/event-store.js';
import { applyEvents } from '../../../src/kernel/read-models/apply-events.js';
import { feedOf } from '../../../src/kernel/read-models/feed.js';
import { rebuild } from '../../../src/kernel/read-models/rebuild.js';
import type { Clock } from '../../../src/ports/clock.js';
import type { Json } from '../../../src/kernel/base/json.js';
import { npcs } from '../../../projections/npcs.js';
import { projections } from '../../../projections/registry.js';
import { turns } from '../../../projections/turns.js';
import { readModelsContract } from '../../contracts/read-models.js';
import { textSearchContract } from '../../contracts/text-search.js';
import { history, storeOf } from '../../support/histories.js';
import { MemoryReadModels } from '../../support/memory/read-models.js';
import { everythingIn } from '../../support/read-models.js';
import { ManualClock } from '../../support/manual-clock.js';
import { noted, notes } from '../../support/notes.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';
import { appendNext } from '../../support/append-next.js';

const open = async (clock: Clock) => {
  const directory = await temporaryDirectory();
  const database = openReadsFile(join(directory.path, 'reads.db'));
  return {
    models: new EmbeddedReadModels(database, clock),
    dispose: async () => {
      database[Symbol.dispose]();
      await directory[Symbol.asyncDispose]();
    },
  };
};

readModelsContract('The embedded adapter', open);
textSearchContract('The embedded adapter', open);

describe('The file of read models', () => {
  const row = { key: 'a', row: { a: 1 }, index: { partition: 'p', order: '1', tag: 'live' } };
  const changes = { put: [row], remove: [], progress: [{ stream: 's', from: -1, to: 1 }], parked: [], position: 2 };

  it('projects a history exactly like the in-memory store, live and rebuilt', async () => {
    await using directory = await temporaryDirectory();
    const clock = new ManualClock();
    let files = 0;
    await fc.assert(
      fc.asyncProperty(history, fc.integer({ min: 1, max: 20 }), async (written, size) => {
        files += 1;
        using database = openReadsFile(join(directory.path, `reads-${files}.db`));
        const [models, memory] = [new EmbeddedReadModels(database, clock), new MemoryReadModels(clock)];
        const events = await storeOf(written);
        const all = await events.readAll(0, 1_000);
        for (const projection of projections) {
          const feed = feedOf(projection, await models.open(projection));
          for (let from = 0; from < all.length; from += size) {
            await applyEvents(models, feed, all.slice(from, from + size), '');
          }
        }
        await rebuild({ events, writer: memory, clock }, projections);
        const expected = await everythingIn(memory);
        expect(await everythingIn(models)).toEqual(expected);
        await rebuild({ events, writer: models, clock }, projections);
        expect(await everythingIn(models)).toEqual(expected);
      }),
      { numRuns: 20 },
    );
  });

  it('continues builds that were made before rows had passages', async () => {
    await using directory = await temporaryDirectory();
    using database = openReadsFile(join(directory.path, 'reads.db'));
    const clock = new ManualClock();
    const events = new MemoryEventStore();
    await appendNext(events, 's', [noted('1', { a: 'a ruby' })]);
    const old = await new EmbeddedReadModels(database, clock).open(notes);
    for (const table of ['passages', 'passage_words', 'passage_hours']) database.exec(`DROP TABLE ${table}_${old.id}`);
    const models = new EmbeddedReadModels(database, clock);
    const build = await models.open(notes);
    expect(build).toEqual(old);
    await applyEvents(models, feedOf(notes, build), await events.readAll(0, 10), '');
    await models.swapIn(build);
    expect(await models.byWords(notes, { stream: 's', text: 'ruby', limit: 9 })).toHaveLength(1);
    await rebuild({ events, writer: models, clock }, [notes]);
    expect(await models.byWords(notes, { stream: 's', text: 'ruby', limit: 9 })).toHaveLength(1);
  });

  it('reads only the rows that a list by tags shows, with one seek per tag', async () => {
    await using directory = await temporaryDirectory();
    using database = openReadsFile(join(directory.path, 'reads.db'));
    const build = await new EmbeddedReadModels(database, new ManualClock()).open(npcs);
    const plan = (query: object) => {
      const asked = { partition: 'p', direction: 'descending', beyond: '5', within: { above: '1' }, limit: 9 } as const;
      const { sql, given } = listStatement(`rows_${build.id}`, true, { ...asked, ...query });
      const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...given) as { detail: string }[];
      return steps.map(({ detail }) => detail).filter((step) => !/^(MERGE|LEFT|RIGHT)/.test(step));
    };
    const seek = expect.stringMatching(
      /^SEARCH .* INDEX rows_\d+_by_tag \(partition=\? AND tag=\? AND place>\? AND place<\?\)$/,
    );
    expect(plan({ tags: ['x'] })).toEqual([seek]);
    expect(plan({ tags: ['x', 'y', 'x'] })).toEqual([seek, seek]);
    expect(plan({})).toEqual([expect.stringMatching(/^SEARCH .* INDEX rows_\d+_by_place \(partition=/)]);
  });

  it('adds a missing index to existing builds while readers use them', async () => {
    await using directory = await temporaryDirectory();
    using database = openReadsFile(join(directory.path, 'reads.db'));
    const clock = new ManualClock();
    const events = new MemoryEventStore();
    await appendNext(events, 's', [noted('1', { a: 'a ruby' })]);
    const before = new EmbeddedReadModels(database, clock);
    const old = await before.open(notes);
    await applyEvents(before, feedOf(notes, old), await events.readAll(0, 10), '');
    await before.swapIn(old);
    database.exec(`DROP INDEX rows_${old.id}_by_tag`);
    const models = new EmbeddedReadModels(database, clock);
    const build = await models.open(notes);
    expect(build).toMatchObject({ position: 0, live: false });
    expect(await models.open(notes)).toEqual(build);
    const found = () => models.byWords(notes, { stream: 's', text: 'ruby', limit: 9 });
    expect(await found()).toHaveLength(1);
    await applyEvents(models, feedOf(notes, build), await events.readAll(0, 10), '');
    await models.swapIn(build);
    expect(await found()).toHaveLength(1);
    expect(await models.open(notes)).toMatchObject({ id: build.id, live: true });
    expect(database.prepare('SELECT count(*) AS count FROM builds').get()).toEqual({ count: 1 });
  });

  it('keeps the vectors and the word index over a rebuild', async () => {
    await using directory = await temporaryDirectory();
    using database = openReadsFile(join(directory.path, 'reads.db'));
    const clock = new ManualClock();
    const models = new EmbeddedReadModels(database, clock);
    const events = new MemoryEventStore();
    await appendNext(events, 's', [noted('1', { a: 'a ruby', b: 'a pearl', c: '' }), noted('2', { b: 'a ruby too' })]);
    const build = await models.open(notes);
    await applyEvents(models, feedOf(notes, build), await events.readAll(0, 10), '');
    await models.swapIn(build);
    const lacking = await models.withoutVector(notes, { embedder: 'e@1', limit: 9 });
    expect(lacking).toHaveLength(2);
    await models.setVectors(
      notes,
      'e@1',
      lacking.map((row) => ({ ...row, vector: new Float32Array([row.text.length]) })),
    );
    const seen = async () => [
      await models.vectors(notes, { embedder: 'e@1', stream: 's', limit: 9 }),
      await models.byWords(notes, { stream: 's', text: 'ruby pearl', limit: 9 }),
    ];
    const before = await seen();
    expect(before.map((found) => found.length)).toEqual([2, 2]);
    await rebuild({ events, writer: models, clock }, [notes]);
    expect(await seen()).toEqual(before);
    expect(await models.withoutVector(notes, { embedder: 'e@1', limit: 9 })).toEqual([]);
  });

  it('yields between the words of a search, and searches again if the build is dropped meanwhile', async () => {
    await using directory = await temporaryDirectory();
    using database = openReadsFile(join(directory.path, 'reads.db'));
    const clock = new ManualClock();
    const models = new EmbeddedReadModels(database, clock);
    const events = new MemoryEventStore();
    await appendNext(events, 's', [noted('1', { a: 'a ruby', b: 'a pearl', c: 'an opal' })]);
    const build = await models.open(notes);
    await applyEvents(models, feedOf(notes, build), await events.readAll(0, 10), '');
    await models.swapIn(build);
    const query = { stream: 's', text: 'ruby pearl opal', limit: 9 };
    const before = await models.byWords(notes, query);
    expect(before).toHaveLength(3);
    let isOver = false;
    const searching = models.byWords(notes, query).finally(() => (isOver = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isOver).toBe(false);
    await rebuild({ events, writer: models, clock }, [notes]);
    expect(await searching).toEqual(before);
  });

  it('does not flush its commits: only commits of events cost a flush', async () => {
    await using directory = await temporaryDirectory();
    using database = openReadsFile(join(directory.path, 'reads.db'));
    expect([database.pragma('synchronous'), database.pragma('journal_mode')]).toEqual([1, 'wal']);
  });

  it('keeps everything over a reopen', async () => {
    await using directory = await temporaryDirectory();
    const file = join(directory.path, 'reads.db');
    const parked = { stream: 't', revision: 0, eventId: 'e', type: 'Strange', reason: 'Why not.', at: '2026-01-01' };
    const database = openReadsFile(file);
    const before = new EmbeddedReadModels(database, new ManualClock());
    const build = await before.open(npcs);
    await before.swapIn(build);
    await before.commit(build, { ...changes, parked: [parked] });
    const under = await before.open(turns);
    database[Symbol.dispose]();
    using reopened = openReadsFile(file);
    const models = new EmbeddedReadModels(reopened, new ManualClock());
    expect(await models.get(npcs, 'a')).toEqual(row.row);
    expect((await models.list(npcs, { partition: 'p', direction: 'ascending', limit: 9 })).rows).toHaveLength(1);
    expect(await models.progress(npcs, 's')).toBe(1);
    expect(await models.parked(10)).toEqual([{ projection: 'npcs', version: npcs.version, ...parked }]);
    expect((await models.load(build, [], ['t'])).streams.get('t')).toEqual({ revision: -1, parked: true });
    expect(await models.open(npcs)).toEqual({ ...build, position: 2, live: true });
    expect(await models.open(turns)).toEqual(under);
  });

  it('keeps nothing of a commit that fails half way', async () => {
    await using directory = await temporaryDirectory();
    using database = openReadsFile(join(directory.path, 'reads.db'));
    const models = new EmbeddedReadModels(database, new ManualClock());
    const build = await models.open(npcs);
    const unwritable = { ...row, key: 'b', row: 1n as unknown as Json };
    await expect(models.commit(build, { ...changes, put: [row, unwritable] })).rejects.toThrow(TypeError);
    expect(await models.get(npcs, 'a')).toBeNull();
    expect(await models.progress(npcs, 's')).toBe(-1);
    expect(await models.commit(build, changes)).toBe(true);
  });

  it('drops what another format version wrote, so that it is rebuilt from the events', async () => {
    await using directory = await temporaryDirectory();
    const file = join(directory.path, 'reads.db');
    {
      using database = openReadsFile(file);
      const models = new EmbeddedReadModels(database, new ManualClock());
      await models.commit(await models.open(npcs), changes);
      database.exec('PRAGMA user_version = 999');
    }
    using database = openReadsFile(file);
    const models = new EmbeddedReadModels(database, new ManualClock());
    expect((await models.open(npcs)).position).toBe(0);
    expect(await models.get(npcs, 'a')).toBeNull();
  });

  it('removes the tables of dropped builds', async () => {
    await using directory = await temporaryDirectory();
    const file = join(directory.path, 'reads.db');
    {
      using database = openReadsFile(file);
      const models = new EmbeddedReadModels(database, new ManualClock());
      for (let round = 0; round < 3; round += 1) await models.swapIn(await models.begin(npcs));
    }
    using database = Database.open(file, { synchronous: 'NORMAL' });
    const tables = database.prepare(
      `SELECT count(*) AS n FROM sqlite_schema WHERE name LIKE 'rows_%' AND type = 'table'`,
    );
    expect(tables.get()).toEqual({ n: 1 });
  });

  it('reports the store as unavailable to a reader of a closed file', async () => {
    await using directory = await temporaryDirectory();
    const database = openReadsFile(join(directory.path, 'reads.db'));
    const models = new EmbeddedReadModels(database, new ManualClock());
    await models.open(npcs);
    database[Symbol.dispose]();
    await expect(models.get(npcs, 'a')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });
});
