import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { applyEvents } from '../../../src/kernel/read-models/apply-events.js';
import {
  type Feed,
  feedOf,
  PORTION_BYTES,
  PORTION_ROWS,
  WRITTEN_BEFORE_GROWTH,
} from '../../../src/kernel/read-models/feed.js';
import { placeOf } from '../../../src/kernel/read-models/partition-progress.js';
import { PartitionedBuild } from '../../../src/kernel/read-models/partitioned-build.js';
import { rowKey } from '../../../src/kernel/read-models/row-key.js';
import { rebuild } from '../../../src/kernel/read-models/rebuild.js';
import { jsonBytes } from '../../../src/kernel/base/json.js';
import type { EventToAppend, RecordedEvent } from '../../../src/ports/event-store.js';
import type { Changes, ReadModelWriter } from '../../../src/ports/read-model-writer.js';
import { ManualClock } from '../../support/manual-clock.js';
import { cleared, type Note, noted, notes, struck } from '../../support/notes.js';
import { MemoryReadModels } from '../../support/memory/read-models.js';
import { writerWith } from '../../support/read-models.js';
import { appendNext } from '../../support/append-next.js';
import { countTurns } from '../../support/loop-turns.js';

const AT = '2026-01-01T00:00:00.000Z';
const many = (prefix: string, count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`${prefix}${n}`, `text ${n}`]));

const passagesOf: (typeof notes)['passagesOf'] = ({ revision, text }) => [
  { place: revision, partition: 'studio', at: AT, tags: [], text },
];

const textsIn = async (models: MemoryReadModels, stream: string): Promise<readonly string[]> => {
  const { rows } = await models.list(notes, { partition: stream, direction: 'ascending', limit: 100_000 });
  return rows.map(({ row }) => `${(row as Note).id}: ${(row as Note).text}`);
};

describe('Events that affect many rows', () => {
  const clock = new ManualClock();
  let store: MemoryEventStore;
  let models: MemoryReadModels;
  let feed: Feed;
  let commits: Changes[];
  let writer: ReadModelWriter;

  beforeEach(async () => {
    store = new MemoryEventStore();
    models = new MemoryReadModels(clock);
    feed = feedOf(notes, await models.open(notes));
    commits = [];
    writer = writerWith(models, {
      commit: (build, changes) => {
        commits.push(changes);
        return models.commit(build, changes);
      },
    });
  });

  it('are counted once, however often they are delivered, and not if they cannot be applied', async () => {
    const partition = 'all';
    const counting = {
      ...notes,
      countsOf: ({ stream, type }: RecordedEvent) => [{ partition, place: stream.slice(-1), name: type }],
    };
    const counts = async () => Object.values(await models.counts(counting, { partition, from: '', to: '~', limit: 9 }));
    await appendNext(store, 'note-a', [noted('1', { x: 'one' }), noted('2', {}), struck('3', ['x'])]);
    await appendNext(store, 'note-b', [noted('4', {}), noted('5', { y: 'poison' }), noted('6', {})]);
    const events = await store.readAll(0, 100);
    const counted = { ...feed, ...feedOf(counting, feed.build) };
    await applyEvents(models, counted, events.slice(0, 2), AT);
    await applyEvents(models, counted, events, AT);
    await applyEvents(models, counted, events, AT);
    expect(await counts()).toEqual([
      { place: 'a', name: 'Noted', count: 2 },
      { place: 'a', name: 'Struck', count: 1 },
      { place: 'b', name: 'Noted', count: 1 },
    ]);
  });

  /** Every event behind a position, however many reads that takes. */
  const largeEvents = async (after: number): Promise<readonly RecordedEvent[]> => {
    const all: RecordedEvent[] = [];
    for (;;) {
      const some = await store.readAll(all.at(-1)?.position ?? after, 100);
      if (some.length === 0) return all;
      all.push(...some);
    }
  };

  const apply = async (size = 1_000): Promise<number> => {
    const all = await store.readAll(0, 100_000);
    let parked = 0;
    for (let from = 0; from < all.length; from += size) {
      parked += (await applyEvents(writer, feed, all.slice(from, from + size), AT)).length;
    }
    return parked;
  };

  it('do not yield for the words of each short text', async () => {
    for (let n = 0; n < 500; n += 1) await appendNext(store, 's', [noted(`${n}`, { [`n${n}`]: 'a few words' })]);
    using turns = countTurns();
    await apply();
    expect(turns.count).toBeLessThan(50);
  });

  it('yield between short texts, each of which must be folded', async () => {
    const text = '\ufdfa'.repeat(900);
    const spoken = { ...notes, passagesOf };
    for (let n = 0; n < 200; n += 1) await appendNext(store, 's', [noted(`${n}`, { [`n${n}`]: text })]);
    for (const of of [notes, spoken]) {
      feed = feedOf(of, await models.begin(of));
      using turns = countTurns();
      await apply();
      expect(turns.count).toBeGreaterThan(30);
    }
  });

  it('index texts in the groups that the projection names, and are parked if it cannot', async () => {
    const grouped: typeof notes = {
      ...notes,
      textGroupOf: ({ id }) => {
        if (id === 'odd') throw new Error('It has no group.');
        return id === 'none' ? null : id;
      },
    };
    feed = feedOf(grouped, feed.build);
    await appendNext(store, 's', [
      noted('1', { a: 'a ruby', b: 'a ruby', none: 'a ruby' }),
      noted('2', { odd: 'a ruby' }),
    ]);
    const parked = await applyEvents(writer, feed, await largeEvents(0), AT);
    expect(parked).toMatchObject([{ stream: 's', revision: 1, reason: 'It has no group.' }]);
    const found = await models.byWords(grouped, { stream: 's', text: 'ruby', groups: ['a'], limit: 9 });
    expect(found.map(({ key }) => key)).toEqual([rowKey('s', 'a')]);
  });

  it('index only new passages', async () => {
    const told: typeof notes = {
      ...notes,
      passagesOf: ({ text: said }) =>
        said.split('|').map((part, place) => ({ place, partition: 'studio', at: AT, tags: [], text: part })),
    };
    feed = feedOf(told, await models.open(told));
    const placesIn = () =>
      commits.splice(0).flatMap(({ put }) => put.flatMap(({ passages = [] }) => passages.map(({ place }) => place)));
    await appendNext(store, 's', [noted('1', { a: 'one' }), noted('2', { a: 'one|two' })]);
    await apply();
    expect(placesIn()).toEqual([0, 1]);
    await appendNext(store, 's', [noted('3', { a: 'one|two|three' }), noted('4', { a: 'one|two|three|four' })]);
    await apply();
    expect(placesIn()).toEqual([2, 3]);
  });

  it('are written in transactions with a bounded number of words to index', async () => {
    const text = Array.from({ length: 3_000 }, (_, n) => `w${n + 100_000}`).join(' ');
    const spoken = { ...notes, passagesOf };
    feed = feedOf(spoken, await models.open(spoken));
    for (let n = 0; n < 6; n += 1) await appendNext(store, 's', [noted(`${n}`, { [`n${n}`]: text })]);
    await applyEvents(writer, feed, await largeEvents(0), AT);
    // The words of each row, in its text and its passage, have 48,000 units: with the second row its portion of 65,536 is full.
    expect(commits.map(({ put }) => put.length)).toEqual([2, 2, 2]);
    expect(await textsIn(models, 's')).toHaveLength(6);
  });

  it('create, change and remove as many rows as they name, of their own stream only', async () => {
    await appendNext(store, 's', [noted('1', { a: 'one', b: 'two', c: 'three' })]);
    await appendNext(store, 't', [noted('2', { a: 'theirs', b: 'too' })]);
    await appendNext(store, 's', [noted('3', { b: 'other', d: 'new' }), struck('4', ['a', 'c', 'x']), noted('5', {})]);
    await apply();
    expect(await textsIn(models, 's')).toEqual(['b: other', 'd: new']);
    expect(await textsIn(models, 't')).toEqual(['a: theirs', 'b: too']);
    expect(await models.progress(notes, 's')).toBe(3);
  });

  it('change nothing when they are delivered again', async () => {
    await appendNext(store, 's', [noted('1', { a: 'one', b: 'two' }), struck('2', ['a'])]);
    await apply();
    await apply();
    expect(await textsIn(models, 's')).toEqual(['b: two']);
  });

  it('are parked completely when one of the rows cannot be made, and stop only their stream', async () => {
    await appendNext(store, 's', [noted('1', { a: 'one', b: 'two' })]);
    await appendNext(store, 's', [noted('2', { a: 'changed', b: 'poison', c: 'new' }), noted('3', { d: 'late' })]);
    await appendNext(store, 't', [noted('4', { a: 'theirs' })]);
    expect(await apply()).toBe(1);
    expect(await textsIn(models, 's')).toEqual(['a: one', 'b: two']);
    expect(await textsIn(models, 't')).toEqual(['a: theirs']);
    expect(await models.progress(notes, 's')).toBe(0);
    expect(await models.parked(9)).toMatchObject([{ stream: 's', revision: 1, reason: 'b does not fit' }]);
  });

  it('are written in portions of rows, an event never in two of them', async () => {
    const half = PORTION_ROWS / 2;
    const sizes = [half, half + 1, half, 2 * PORTION_ROWS, 1, 1];
    for (const [n, size] of sizes.entries()) await appendNext(store, `s${n}`, [noted(`${n}`, many('a', size))]);
    await apply();
    expect(commits.map(({ put, position }) => [put.length, position])).toEqual([
      [PORTION_ROWS + 1, 2],
      [half + 2 * PORTION_ROWS, 4],
      [2, 6],
    ]);
  });

  it('are written in portions by the stored size of their rows, however small they are themselves', async () => {
    const size = PORTION_BYTES / 4;
    const large = 'x'.repeat(size);
    for (let n = 0; n < 16; n += 1) await appendNext(store, `s${n}`, [noted(`${n}`, { a: large })]);
    for (let from = 0; from < 16; from = feed.build.position)
      await applyEvents(writer, feed, await store.readAll(from, 100), AT);
    commits = [];
    const loads: number[] = [];
    const counting = writerWith(writer, {
      load: async (...asked) => {
        const loaded = await writer.load(...asked);
        loads.push(jsonBytes([...loaded.rows.values()]));
        return loaded;
      },
    });
    for (let n = 0; n < 16; n += 1) await appendNext(store, `s${n}`, [noted(`${n}-b`, { a: large.slice(n + 1) })]);
    expect(await applyEvents(counting, feed, await largeEvents(16), AT)).toEqual([]);
    for (let n = 0; n < 16; n += 1) expect(await textsIn(models, `s${n}`)).toEqual([`a: ${large.slice(n + 1)}`]);
    expect(commits.map(({ position }) => position)).toEqual([20, 24, 28, 32]);
    expect(Math.max(...loads)).toBeLessThan(PORTION_BYTES + size);
  });

  it('have all their rows in one portion, however large those are, and no rows of others', async () => {
    const large = 'x'.repeat(PORTION_BYTES / 4);
    const ids = [...'abcdefghijkl'];
    for (const id of ids) await appendNext(store, 's', [noted(id, { [id]: large })]);
    for (let from = 0; from < 12; from = feed.build.position)
      await applyEvents(writer, feed, await store.readAll(from, 100), AT);
    commits = [];
    await appendNext(store, 't', [noted('before', { a: 'one' })]);
    await appendNext(store, 's', [struck('all', ids)]);
    await appendNext(store, 't', [noted('after', { a: 'two' })]);
    await applyEvents(writer, feed, await store.readAll(12, 100), AT);
    expect(commits.map(({ put, remove }) => [put.length, remove.length])).toEqual([
      [1, 0],
      [0, 12],
      [1, 0],
    ]);
    expect([await textsIn(models, 's'), await textsIn(models, 't')]).toEqual([[], ['a: two']]);
  });

  it('are written in smaller portions after a failed one, and in larger ones again once they are written', async () => {
    for (let n = 0; n < 40; n += 1) await appendNext(store, `s${n}`, [noted(`${n}`, many('a', 100))]);
    const narrow = writerWith(writer, {
      commit: (build, changes) =>
        changes.put.length > 1_100 ? Promise.reject(new Error('too large')) : writer.commit(build, changes),
    });
    let failures = 0;
    for (let from = 0; from < 40 && failures < 20; from = feed.build.position) {
      await applyEvents(narrow, feed, await store.readAll(from, 100), AT).catch(() => (failures += 1));
    }
    for (let n = 0; n <= WRITTEN_BEFORE_GROWTH; n += 1)
      await appendNext(store, 'small', [noted(`small ${n}`, { a: 'x' })]);
    for (const event of await store.readAll(40, 100)) await applyEvents(narrow, feed, [event], AT);
    expect(await models.progress(notes, 's39')).toBe(0);
    expect(failures).toBeGreaterThan(0);
    expect(feed.next.portion.rows).toBe(PORTION_ROWS);
  });

  it('rarely fail if the database accepts fewer rows than a full portion', async () => {
    for (let n = 0; n < 600; n += 1) await appendNext(store, `s${n}`, [noted(`${n}`, many('a', 10))]);
    let failures = 0;
    const narrow = writerWith(writer, {
      commit: async (build, changes) => {
        if (changes.put.length <= 300) return writer.commit(build, changes);
        failures += 1;
        throw new Error('too large');
      },
    });
    for (let from = 0; from < 600 && failures < 100; from = feed.build.position)
      await applyEvents(narrow, feed, await store.readAll(from, 100), AT).catch(() => undefined);
    expect([await models.progress(notes, 's599'), failures]).toEqual([0, 3]);
  });

  it('are folded again from the portion that another writer wrote first', async () => {
    for (let n = 0; n < 3; n += 1) await appendNext(store, 's', [noted(`${n}`, many(`${n}-`, PORTION_ROWS))]);
    let refused = false;
    const racing = writerWith(writer, {
      commit: (build, changes) => {
        if (refused || commits.length === 0) return writer.commit(build, changes);
        refused = true;
        return Promise.resolve(false);
      },
    });
    expect(await applyEvents(racing, feed, await store.readAll(0, 10), AT)).toEqual([]);
    expect(commits.map(({ progress }) => progress)).toEqual([0, 1, 2].map((to) => [{ stream: 's', from: to - 1, to }]));
  });

  it('advance their partition with the last portion', async () => {
    for (let n = 0; n < 3; n += 1) await appendNext(store, 's', [noted(`${n}`, many(`${n}-`, PORTION_ROWS))]);
    const log = { error: () => undefined };
    const build = new PartitionedBuild(feed, { events: store, writer, clock, log });
    build.want(placeOf(0, 1), 3);
    await build.catchUp(new Set([0]));
    const moved = commits.map(({ progress, position }) => [progress.map(({ stream }) => stream), position]);
    expect(moved).toEqual([
      [['s'], 0],
      [['s'], 0],
      [['s', '/feed/1/0'], 3],
    ]);
    expect(await textsIn(models, 's')).toHaveLength(3 * PORTION_ROWS);
  });

  it('give the same rows live, rebuilt and by partitions, however they are split', async () => {
    const stream = fc.constantFrom('s', 't', 'u');
    const id = fc.constantFrom('a', 'b', 'c', 'd');
    const text = fc.oneof({ weight: 9, arbitrary: fc.constantFrom('one', 'two') }, fc.constant('poison'));
    const change = fc.oneof(
      fc.dictionary(id, text).map(
        (texts) =>
          (n: string): EventToAppend =>
            noted(n, texts),
      ),
      fc.array(id).map(
        (ids) =>
          (n: string): EventToAppend =>
            struck(n, ids),
      ),
      fc.constant((n: string): EventToAppend => cleared(n)),
    );
    const history = fc.array(fc.tuple(stream, change), { maxLength: 30 });
    const seen = async (of: MemoryReadModels): Promise<unknown> => {
      const all = [];
      for (const partition of ['s', 't', 'u', 's/cleared', 't/cleared', 'u/cleared']) {
        all.push(await of.list(notes, { partition, direction: 'ascending', limit: 1_000 }));
        all.push(await of.progress(notes, partition), await of.parkedCount([notes]));
      }
      return all;
    };
    await fc.assert(
      fc.asyncProperty(history, fc.integer({ min: 1, max: 9 }), async (written, size) => {
        const events = new MemoryEventStore();
        for (const [n, [name, make]] of written.entries()) await appendNext(events, name, [make(`${n}`)]);
        const [live, rebuilt, parted] = [1, 2, 3].map(() => new MemoryReadModels(clock)) as [
          MemoryReadModels,
          MemoryReadModels,
          MemoryReadModels,
        ];
        const all = await events.readAll(0, 1_000);
        const own = feedOf(notes, await live.open(notes));
        for (let from = 0; from < all.length; from += size)
          await applyEvents(live, own, all.slice(from, from + size), AT);
        await rebuild({ events, writer: rebuilt, clock }, [notes]);
        const log = { error: () => undefined };
        for (const partition of [0, 1, 2]) {
          const shared = feedOf(notes, await parted.open(notes));
          const build = new PartitionedBuild(shared, { events, writer: parted, clock, log });
          build.want(placeOf(partition, 3), all.length);
          while (build.anyBehind) await build.catchUp(new Set([partition]));
        }
        expect(await seen(rebuilt)).toEqual(await seen(live));
        expect(await seen(parted)).toEqual(await seen(live));
      }),
    );
  });
});
