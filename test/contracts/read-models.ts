import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { Json } from '../../src/domain/shared/json.js';
import type { Clock } from '../../src/ports/clock.js';
import type { Build, Changes, ReadModelWriter } from '../../src/ports/read-model-writer.js';
import type { ListQuery, Projection, ReadModels } from '../../src/ports/read-models.js';
import { ManualClock } from '../support/manual-clock.js';

type Both = ReadModels & ReadModelWriter;

export type OpenedReadModels = { readonly models: Both; readonly dispose: () => Promise<void> };

const projection = (name: string, version = 1): Projection => ({
  name,
  version,
  handles: [],
  idsOf: () => [],
  evolve: (row) => row,
  indexOf: () => ({ partition: '', order: '', tag: '' }),
});

const put = (
  key: string,
  row: Json = { key },
  [partition, order, tag]: readonly string[] = [],
): Changes['put'][number] => ({
  key,
  row,
  index: { partition: partition ?? 'p', order: order ?? key, tag: tag ?? 'live' },
});

const changes = (some: Partial<Changes>): Changes => ({
  put: [],
  remove: [],
  progress: [],
  parked: [],
  position: 0,
  ...some,
});

const poison = (stream: string, revision = 3): Changes['parked'][number] => ({
  stream,
  revision,
  eventId: `id-of-${stream}`,
  type: 'Strange',
  reason: 'It does not fit.',
  at: '2026-01-01T00:00:00.000Z',
});

const books = projection('books');
const books2 = projection('books', 2);

/** What read models and their write side keep to, whatever they stand on. */
export const readModelsContract = (name: string, open: (clock: Clock) => Promise<OpenedReadModels>): void => {
  describe(`${name} as read models`, () => {
    const clock = new ManualClock();
    let opened: OpenedReadModels;
    let models: Both;
    let build: Build;

    beforeEach(async () => {
      opened = await open(clock);
      models = opened.models;
      build = await models.open(books);
      await models.swapIn(build);
    });

    afterEach(() => opened.dispose());

    const commit = async (some: Partial<Changes>, into = build): Promise<boolean> => models.commit(into, changes(some));
    const keys = async (query: Partial<ListQuery> = {}): Promise<readonly string[]> =>
      (await models.list(books, { partition: 'p', direction: 'ascending', limit: 100, ...query })).rows.map(
        ({ key }) => key,
      );

    describe('rows', () => {
      it('are given back as they were put, and null when there is none', async () => {
        const row = JSON.parse(
          '{"text":"é 漢字 😀 \\u2028 \\u0000","list":[1,2.5,null,{}],"__proto__":{"own":true}}',
        ) as Json;
        await commit({ put: [put('a', row)] });
        expect(JSON.stringify(await models.get(books, 'a'))).toBe(JSON.stringify(row));
        expect(await models.get(books, 'b')).toBeNull();
      });

      it('are replaced whole, and leave when they are removed', async () => {
        await commit({ put: [put('a', { one: 1 }), put('b')] });
        await commit({ put: [put('a', { two: 2 })], remove: ['b'] });
        expect(await models.get(books, 'a')).toEqual({ two: 2 });
        expect(await models.get(books, 'b')).toBeNull();
        expect(await keys()).toEqual(['a']);
      });

      it('are loaded by key, those that are missing left out', async () => {
        await commit({ put: [put('a'), put('b'), put('c')] });
        const { rows } = await models.load(build, ['a', 'c', 'x'], []);
        expect([...rows].sort()).toEqual([
          ['a', { key: 'a' }],
          ['c', { key: 'c' }],
        ]);
      });
    });

    describe('lists', () => {
      it('hold the rows of one partition, sorted by code point in both directions', async () => {
        const orders = ['b', 'a', 'ａ', '😀', 'B', 'a b', 'é'];
        await commit({ put: [...orders.map((order) => put(order, order, ['p', order])), put('z', 'z', ['q', 'z'])] });
        const ascending = ['B', 'a', 'a b', 'b', 'é', 'ａ', '😀'];
        expect(await keys()).toEqual(ascending);
        expect(await keys({ direction: 'descending' })).toEqual([...ascending].reverse());
        expect(await keys({ partition: 'nobody' })).toEqual([]);
      });

      it('give the key, the order and the row', async () => {
        await commit({ put: [put('a', { title: 'A' }, ['p', '001'])] });
        const listed = await models.list(books, { partition: 'p', direction: 'ascending', limit: 1 });
        expect(listed).toEqual({ rows: [{ key: 'a', order: '001', row: { title: 'A' } }], more: false });
      });

      it.each(['ascending', 'descending'] as const)(
        'end a page %s by its bytes, and say whether more of them match',
        async (direction) => {
          const names = [...'abcdefghij'];
          // Two bytes a character: bytes are counted, not characters.
          const row = { text: 'é'.repeat(50_000) };
          await commit({ put: names.map((key) => put(key, row, ['p', key, key < 'i' ? 'live' : 'other'])) });
          const pages: string[][] = [];
          let beyond: string | undefined;
          for (let further = true; further;) {
            const query = { partition: 'p', tags: ['live'], direction, limit: 100, bytes: 300_000 } as const;
            const { rows, more } = await models.list(books, beyond === undefined ? query : { ...query, beyond });
            pages.push(rows.map(({ key }) => key));
            beyond = rows.at(-1)?.order;
            further = more;
          }
          const ascending = [
            ['a', 'b', 'c'],
            ['d', 'e', 'f'],
            ['g', 'h'],
          ];
          const descending = [
            ['h', 'g', 'f'],
            ['e', 'd', 'c'],
            ['b', 'a'],
          ];
          expect(pages).toEqual(direction === 'ascending' ? ascending : descending);
        },
      );

      it('come at least one at a time, however large; near 4 MiB unless another bound is named', async () => {
        const row = { text: 'x'.repeat(1_000_000) };
        await commit({ put: [...'abcdef'].map((key) => put(key, row)) });
        const query = { partition: 'p', direction: 'ascending', limit: 100 } as const;
        const one = await models.list(books, { ...query, bytes: 1 });
        expect(one).toMatchObject({ rows: [{ key: 'a' }], more: true });
        expect((await models.list(books, query)).rows.map(({ key }) => key)).toEqual([...'abcde']);
        expect((await models.list(books, { ...query, beyond: 'd' })).more).toBe(false);
      });

      it('say that there are more behind the limit, and none behind the last', async () => {
        await commit({ put: [put('a'), put('b'), put('c')] });
        const more = async (limit: number, beyond?: string): Promise<boolean> =>
          (
            await models.list(books, {
              partition: 'p',
              direction: 'ascending',
              limit,
              ...(beyond === undefined ? {} : { beyond }),
            })
          ).more;
        expect([await more(2), await more(3), await more(4), await more(2, 'a'), await more(1, 'c')]).toEqual([
          true,
          false,
          false,
          false,
          false,
        ]);
      });

      it('go on strictly beyond an order, in reading direction, up to the limit', async () => {
        await commit({ put: ['1', '2', '3', '4', '5'].map((key) => put(key)) });
        expect(await keys({ beyond: '2', limit: 2 })).toEqual(['3', '4']);
        expect(await keys({ beyond: '4', limit: 2, direction: 'descending' })).toEqual(['3', '2']);
        expect(await keys({ beyond: '5' })).toEqual([]);
      });

      it('hold only rows with one of the tags asked for', async () => {
        await commit({ put: ['x', 'y', 'z', 'x'].map((tag, n) => put(`${n}`, n, ['p', `${n}`, tag])) });
        expect(await keys({ tags: ['x'] })).toEqual(['0', '3']);
        expect(await keys({ tags: ['x', 'z'], beyond: '0' })).toEqual(['2', '3']);
        expect(await keys({ tags: [] })).toEqual([]);
      });

      it('follow a row to another place', async () => {
        await commit({ put: [put('a', 1, ['p', '1', 'live']), put('b', 2, ['p', '2', 'live'])] });
        await commit({ put: [put('a', 1, ['p', '3', 'gone']), put('b', 2, ['q', '2', 'live'])] });
        expect(await keys()).toEqual(['a']);
        expect(await keys({ tags: ['live'] })).toEqual([]);
        expect(await keys({ partition: 'q' })).toEqual(['b']);
      });
    });

    describe('progress', () => {
      it('is -1 for a stream that was never seen', async () => {
        expect(await models.progress(books, 's')).toBe(-1);
        const { streams } = await models.load(build, [], ['s']);
        expect(streams.get('s')).toEqual({ revision: -1, parked: false });
      });

      it('moves with the rows of one commit', async () => {
        expect(await commit({ put: [put('a')], progress: [{ stream: 's', from: -1, to: 4 }] })).toBe(true);
        expect(await models.progress(books, 's')).toBe(4);
        expect((await models.load(build, [], ['s', 't'])).streams.get('s')).toEqual({ revision: 4, parked: false });
      });

      it('refuses a batch that was made on another standing, and then writes nothing of it', async () => {
        await commit({ progress: [{ stream: 's', from: -1, to: 4 }] });
        const late = {
          put: [put('a')],
          parked: [poison('u')],
          progress: [
            { stream: 't', from: -1, to: 0 },
            { stream: 's', from: 3, to: 5 },
          ],
          position: 9,
        };
        expect(await commit(late)).toBe(false);
        expect(await models.get(books, 'a')).toBeNull();
        expect([await models.progress(books, 's'), await models.progress(books, 't')]).toEqual([4, -1]);
        expect(await models.parkedCount()).toBe(0);
        expect((await models.open(books)).position).toBe(0);
      });

      it('keeps the global position of the build', async () => {
        await commit({ position: 17 });
        expect((await models.open(books)).position).toBe(17);
      });
    });

    describe('parked events', () => {
      it('stop their stream for this projection alone, and are listed with what is known of them', async () => {
        const films = await models.open(projection('films'));
        await commit({ parked: [poison('s')] });
        expect((await models.load(build, [], ['s', 't'])).streams.get('s')).toEqual({ revision: -1, parked: true });
        expect((await models.load(films, [], ['s'])).streams.get('s')).toEqual({ revision: -1, parked: false });
        expect(await models.parked(10)).toEqual([{ projection: 'books', version: 1, ...poison('s') }]);
      });

      it('are counted in full and listed up to a limit', async () => {
        await commit({ parked: [poison('s'), poison('r'), poison('t')] });
        expect(await models.parkedCount()).toBe(3);
        expect((await models.parked(2)).map(({ stream }) => stream)).toEqual(['r', 's']);
      });

      it('go with their build', async () => {
        await commit({ parked: [poison('s')] });
        await models.swapIn(await models.begin(books));
        expect(await models.parkedCount()).toBe(0);
        expect(await models.parked(10)).toEqual([]);
      });
    });

    describe('builds', () => {
      it('are opened again as they stand', async () => {
        await commit({ position: 3 });
        expect(await models.open(books)).toEqual({ ...build, position: 3, live: true });
      });

      it('keep their rows from readers while another one of the version is live', async () => {
        await commit({ put: [put('a', 'old')], progress: [{ stream: 's', from: -1, to: 0 }] });
        const next = await models.begin(books);
        await commit({ put: [put('a', 'new'), put('b')], progress: [{ stream: 's', from: -1, to: 7 }] }, next);
        expect(await models.get(books, 'a')).toBe('old');
        expect(await keys()).toEqual(['a']);
        expect(await models.progress(books, 's')).toBe(0);
        await models.swapIn(next);
        expect(await models.get(books, 'a')).toBe('new');
        expect(await keys()).toEqual(['a', 'b']);
        expect(await models.progress(books, 's')).toBe(7);
      });

      it('of a new version are read once they are swapped in; until then the version before answers', async () => {
        await commit({ put: [put('a', 'one')] });
        const next = await models.open(books2);
        await commit({ put: [put('a', 'two')] }, next);
        expect(await models.get(books2, 'a')).toBe('one');
        await models.swapIn(next);
        expect(await models.get(books2, 'a')).toBe('two');
        await expect(commit({ put: [put('a')] })).rejects.toThrow();
        expect(await models.get(books, 'a')).toBe('two');
      });

      it('of a newer version stay when an older one is swapped in', async () => {
        const next = await models.open(books2);
        await models.swapIn(next);
        await commit({ put: [put('a', 'two')] }, next);
        await models.swapIn(await models.open(books));
        expect(await models.get(books, 'a')).toBeNull();
        expect(await models.get(books2, 'a')).toBe('two');
      });

      it('that are the only ones are read while they are under way', async () => {
        const films = projection('films');
        const under = await models.open(films);
        await commit({ put: [put('a')] }, under);
        expect(under.live).toBe(false);
        expect(await models.get(films, 'a')).toEqual({ key: 'a' });
        expect(await models.open(films)).toEqual(under);
      });

      it('that were broken off are forgotten when the version is opened', async () => {
        const abandoned = await models.begin(books);
        expect((await models.open(books)).id).toBe(build.id);
        await expect(commit({ put: [put('a')] }, abandoned)).rejects.toThrow();
      });

      it('of projections with other names are left alone by a swap', async () => {
        const films = projection('films');
        const other = await models.open(films);
        await commit({ put: [put('a')] }, other);
        await models.swapIn(await models.begin(books));
        expect(await models.get(films, 'a')).toEqual({ key: 'a' });
      });
    });

    describe('waiting', () => {
      it('ends at once for what is there', async () => {
        await commit({ progress: [{ stream: 's', from: -1, to: 2 }], position: 5 });
        expect(await models.reached(books, 's', 2, 0)).toBe(true);
        expect(await models.reached(books, 's', 3, 0)).toBe(false);
        expect(await models.reachedPosition(books, 5, 0)).toBe(true);
        expect(await models.reachedPosition(books, 6, 0)).toBe(false);
        expect(models.awaited()).toBe(false);
      });

      it('ends with the commit that brings it', async () => {
        const revision = models.reached(books, 's', 2, 1_000);
        const position = models.reachedPosition(books, 5, 1_000);
        await commit({ progress: [{ stream: 's', from: -1, to: 1 }], position: 4 });
        expect(models.awaited()).toBe(true);
        await commit({ progress: [{ stream: 's', from: 1, to: 2 }], position: 5 });
        expect(await Promise.all([revision, position])).toEqual([true, true]);
        expect(models.awaited()).toBe(false);
      });

      it('ends with false when the time is over', async () => {
        const late = models.reached(books, 's', 0, 2_000);
        const later = models.reachedPosition(books, 1, 3_000);
        await clock.advance(2_000);
        expect(await late).toBe(false);
        expect(models.awaited()).toBe(true);
        await clock.advance(1_000);
        expect(await later).toBe(false);
      });

      it('ends with false when a parked event means that it never comes', async () => {
        const never = models.reached(books, 's', 9, 1_000);
        await commit({ parked: [poison('s')] });
        expect(await never).toBe(false);
        expect(await models.reached(books, 's', 9, 1_000)).toBe(false);
      });

      it('goes on behind a parked event while another build may still bring it', async () => {
        await commit({ parked: [poison('s')] });
        const next = await models.begin(books);
        const wait = models.reached(books, 's', 3, 1_000);
        await commit({ progress: [{ stream: 's', from: -1, to: 3 }] }, next);
        await models.swapIn(next);
        expect(await wait).toBe(true);
      });

      it('ends when a build is swapped in that holds it', async () => {
        const next = await models.begin(books);
        await commit({ progress: [{ stream: 's', from: -1, to: 2 }], position: 5 }, next);
        const waits = Promise.all([models.reached(books, 's', 2, 1_000), models.reachedPosition(books, 5, 1_000)]);
        await models.swapIn(next);
        expect(await waits).toEqual([true, true]);
      });

      it('is told to whoever listens, until it stops listening', async () => {
        let begun = 0;
        const stop = models.onAwaited(() => (begun += 1));
        const waits = [models.reached(books, 's', 0, 1_000), models.reachedPosition(books, 1, 1_000)];
        expect(begun).toBe(2);
        stop();
        waits.push(models.reached(books, 's', 0, 1_000));
        expect(begun).toBe(2);
        await clock.advance(1_000);
        await Promise.all(waits);
      });
    });
  });
};
