import { wordsOf } from '../../src/kernel/base/words.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { Json } from '../../src/kernel/base/json.js';
import type { Clock } from '../../src/ports/clock.js';
import type { Build, Changes, ReadModelWriter } from '../../src/ports/read-model-writer.js';
import type { ListQuery, Projection, ReadModels } from '../../src/ports/read-models.js';
import { type RowSearch, WORD_ROWS, type WordQuery } from '../../src/ports/row-search.js';
import { ManualClock } from '../support/manual-clock.js';
import { sameWords } from '../support/same-words.js';

type Both = ReadModels & RowSearch & ReadModelWriter;

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

/** A row with a text; its stream is the part of its key before the slash. */
const text = (key: string, words: string | null, order = key, group: string | null = null): Changes['put'][number] => ({
  ...put(key, { key, words }, ['p', order]),
  search: {
    stream: key.replace(/\/.*/, ''),
    text: words === null ? null : { text: words, words: wordsOf(words).join(' ') },
    group,
  },
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

/** The promises of read models and their write side, whatever they are built on. */
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

    describe('counts', () => {
      const counted = (place: string, name: string, count = 1, partition = 'p') => ({ partition, place, name, count });
      const all = { partition: 'p', from: '', to: '~', limit: 100 };
      const found = async (query: object = {}) => (await models.counts(books, { ...all, ...query })).map(Object.values);

      it('are added up, by place and name, within one partition', async () => {
        await commit({ counts: [counted('b', 'sold', 2), counted('a', 'sold'), counted('a', 'sold', 9, 'other')] });
        await commit({ counts: [counted('b', 'sold', 3), counted('b', 'lent'), counted('B', 'é')] });
        expect(await found()).toEqual([
          ['B', 'é', 1],
          ['a', 'sold', 1],
          ['b', 'lent', 1],
          ['b', 'sold', 5],
        ]);
        expect(await found({ partition: 'none' })).toEqual([]);
      });

      it('are read from one place to before another, page by page', async () => {
        await commit({ counts: [...'abcd'].flatMap((place) => [counted(place, 'lent'), counted(place, 'sold')]) });
        expect(await found({ from: 'b', to: 'd' })).toHaveLength(4);
        const first = await found({ from: 'b', to: 'd', limit: 3 });
        expect(first.map(([place, name]) => `${place} ${name}`)).toEqual(['b lent', 'b sold', 'c lent']);
        expect(await found({ from: 'b', to: 'd', after: { place: 'c', name: 'lent' }, limit: 3 })).toEqual([
          ['c', 'sold', 1],
        ]);
      });

      it('are not added by a commit that another writer has overtaken', async () => {
        await commit({ progress: [{ stream: 's', from: -1, to: 0 }], counts: [counted('a', 'sold')] });
        expect(await commit({ progress: [{ stream: 's', from: -1, to: 0 }], counts: [counted('a', 'sold')] })).toBe(
          false,
        );
        expect(await found()).toEqual([['a', 'sold', 1]]);
      });

      it('begin anew with each build', async () => {
        await commit({ counts: [counted('a', 'sold', 7)] });
        const next = await models.begin(books2);
        await commit({ counts: [counted('a', 'sold')] }, next);
        expect(await found()).toEqual([['a', 'sold', 7]]);
        await models.swapIn(next);
        expect(await found()).toEqual([['a', 'sold', 1]]);
      });
    });

    describe('rows', () => {
      it('are returned as they were written, and null if there is none', async () => {
        const row = JSON.parse(
          '{"text":"é 漢字 😀 \\u2028 \\u0000","list":[1,2.5,null,{}],"__proto__":{"own":true}}',
        ) as Json;
        await commit({ put: [put('a', row)] });
        expect(JSON.stringify(await models.get(books, 'a'))).toBe(JSON.stringify(row));
        expect(await models.get(books, 'b')).toBeNull();
      });

      it('are replaced completely, and disappear when they are removed', async () => {
        await commit({ put: [put('a', { one: 1 }), put('b')] });
        await commit({ put: [put('a', { two: 2 })], remove: ['b'] });
        expect(await models.get(books, 'a')).toEqual({ two: 2 });
        expect(await models.get(books, 'b')).toBeNull();
        expect(await keys()).toEqual(['a']);
      });

      it('are returned together by their keys, without missing ones', async () => {
        await commit({ put: [put('a'), put('b'), put('c')] });
        expect([...(await models.getAll(books, ['c', 'a', 'x']))].sort()).toEqual([
          ['a', { key: 'a' }],
          ['c', { key: 'c' }],
        ]);
        expect(await models.getAll(books, [])).toEqual(new Map());
      });

      it('are found or missing by any text, also one with a NUL', async () => {
        await commit({ put: [put('a'), text('nul/1', 'a \0 zither')] });
        expect(await models.get(books, '\0')).toBeNull();
        expect((await models.getAll(books, ['a', '\0'])).size).toBe(1);
        // Each database decides where such a row sorts.
        await expect(keys({ beyond: '\0' })).resolves.toBeInstanceOf(Array);
        expect(await keys({ partition: '\0' })).toEqual([]);
        expect(await models.progress(books, '\0')).toBe(-1);
      });

      it('are loaded by key, without missing ones', async () => {
        await commit({ put: [put('a'), put('b'), put('c')] });
        const { rows } = await models.load(build, ['a', 'c', 'x'], []);
        expect([...rows].sort()).toEqual([
          ['a', { key: 'a' }],
          ['c', { key: 'c' }],
        ]);
      });

      it('are loaded in the order of their keys, up to the one that reaches a limit of bytes', async () => {
        // Two bytes for each character: bytes are counted, not characters.
        const row = { text: 'é'.repeat(50_000) };
        const size = 100_011;
        await commit({ put: [...'abcdef'].map((key) => put(key, row)) });
        const asked = [...'xfbyadcez'];
        const loaded = async (bytes?: number) => {
          const { rows, ...rest } = await models.load(build, asked, ['s'], bytes);
          return [[...rows.keys()].join(''), rest.keys, rest.bytes, rest.streams.size];
        };
        expect(await loaded()).toEqual(['fbadce', 9, 6 * size, 1]);
        expect(await loaded(1)).toEqual(['f', 2, size, 1]);
        expect(await loaded(2 * size)).toEqual(['fb', 3, 2 * size, 1]);
        expect(await loaded(2 * size + 1)).toEqual(['fba', 5, 3 * size, 1]);
        expect(await loaded(6 * size)).toEqual(['fbadce', 9, 6 * size, 1]);
        expect(await models.load(build, ['x', 'y'], [], 1)).toMatchObject({ keys: 2, bytes: 0 });
        expect(await models.load(build, [], [])).toMatchObject({ keys: 0, bytes: 0 });
      });
    });

    describe('lists', () => {
      it('have the rows of one partition, sorted by code point in both directions', async () => {
        const orders = ['b', 'a', 'ａ', '😀', 'B', 'a b', 'é'];
        await commit({ put: [...orders.map((order) => put(order, order, ['p', order])), put('z', 'z', ['q', 'z'])] });
        const ascending = ['B', 'a', 'a b', 'b', 'é', 'ａ', '😀'];
        expect(await keys()).toEqual(ascending);
        expect(await keys({ direction: 'descending' })).toEqual([...ascending].reverse());
        expect(await keys({ partition: 'nobody' })).toEqual([]);
      });

      it('return the key, the order and the row', async () => {
        await commit({ put: [put('a', { title: 'A' }, ['p', '001'])] });
        const listed = await models.list(books, { partition: 'p', direction: 'ascending', limit: 1 });
        expect(listed).toEqual({ rows: [{ key: 'a', order: '001', row: { title: 'A' } }], more: false });
      });

      it.each(['ascending', 'descending'] as const)(
        'end a page %s by its bytes, and report whether more rows match',
        async (direction) => {
          const names = [...'abcdefghij'];
          // Two bytes for each character: bytes are counted, not characters.
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

      it('return at least one row, however large; about 4 MiB unless another limit is given', async () => {
        const row = { text: 'x'.repeat(1_000_000) };
        await commit({ put: [...'abcdef'].map((key) => put(key, row)) });
        const query = { partition: 'p', direction: 'ascending', limit: 100 } as const;
        const one = await models.list(books, { ...query, bytes: 1 });
        expect(one).toMatchObject({ rows: [{ key: 'a' }], more: true });
        expect((await models.list(books, query)).rows.map(({ key }) => key)).toEqual([...'abcde']);
        expect((await models.list(books, { ...query, beyond: 'd' })).more).toBe(false);
      });

      it('report more rows behind the limit, and none behind the last', async () => {
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

      it('continue strictly beyond an order, in reading direction, up to the limit', async () => {
        await commit({ put: ['1', '2', '3', '4', '5'].map((key) => put(key)) });
        expect(await keys({ beyond: '2', limit: 2 })).toEqual(['3', '4']);
        expect(await keys({ beyond: '4', limit: 2, direction: 'descending' })).toEqual(['3', '2']);
        expect(await keys({ beyond: '5' })).toEqual([]);
      });

      it('have only rows with one of the requested tags', async () => {
        await commit({ put: ['x', 'y', 'z', 'x'].map((tag, n) => put(`${n}`, n, ['p', `${n}`, tag])) });
        expect(await keys({ tags: ['x'] })).toEqual(['0', '3']);
        expect(await keys({ tags: ['x', 'z'], beyond: '0' })).toEqual(['2', '3']);
        expect(await keys({ tags: [] })).toEqual([]);
        await commit({ put: [put('4', 4, ['p', '4', ''])] });
        expect(await keys({ tags: ['x'] })).toEqual(['0', '3']);
        expect(await keys({})).toEqual(['0', '1', '2', '3', '4']);
      });

      it.each(['ascending', 'descending'] as const)('merge many tags by their order, %s', async (direction) => {
        const tags = Array.from({ length: 64 }, (_, n) => `t${n}`);
        const numbers = Array.from({ length: 300 }, (_, n) => `${1_000 + n}`);
        await commit({ put: numbers.map((key, n) => put(key, n, ['p', key, `t${(n * 7) % 70}`])) });
        const kept = numbers.filter((_, n) => (n * 7) % 70 < 64);
        const ordered = direction === 'ascending' ? kept : [...kept].reverse();
        expect(await keys({ tags, direction, limit: 500 })).toEqual(ordered);
        const page = { partition: 'p', tags: [...tags, ...tags], direction, beyond: ordered[20] ?? '', limit: 30 };
        const within = { above: '1020', upTo: '1270' };
        const listed = await models.list(books, { ...page, within });
        const rest = ordered.slice(21).filter((key) => key > within.above && key <= within.upTo);
        expect(listed.rows.map(({ key }) => key)).toEqual(rest.slice(0, 30));
        expect(listed.more).toBe(true);
      });

      it.each(['ascending', 'descending'] as const)('have only rows within a range, %s', async (direction) => {
        await commit({ put: ['1', '2', '3', '4', '5'].map((key) => put(key)) });
        const ordered = (all: readonly string[]) => (direction === 'ascending' ? all : [...all].reverse());
        const within = async (range: ListQuery['within'] & object) => keys({ direction, within: range });
        expect(await within({ above: '2' })).toEqual(ordered(['3', '4', '5']));
        expect(await within({ upTo: '2' })).toEqual(ordered(['1', '2']));
        expect(await within({ above: '1', upTo: '4' })).toEqual(ordered(['2', '3', '4']));
        expect(await keys({ direction, within: { above: '1', upTo: '4' }, beyond: '3' })).toEqual(
          direction === 'ascending' ? ['4'] : ['2'],
        );
        const page = { partition: 'p', direction, within: { above: '1', upTo: '3' }, limit: 2 } as const;
        expect((await models.list(books, page)).more).toBe(false);
      });

      it('follow a row to another position', async () => {
        await commit({ put: [put('a', 1, ['p', '1', 'live']), put('b', 2, ['p', '2', 'live'])] });
        await commit({ put: [put('a', 1, ['p', '3', 'gone']), put('b', 2, ['q', '2', 'live'])] });
        expect(await keys()).toEqual(['a']);
        expect(await keys({ tags: ['live'] })).toEqual([]);
        expect(await keys({ partition: 'q' })).toEqual(['b']);
      });
    });

    describe('texts', () => {
      const found = async (query: Partial<WordQuery>): Promise<readonly string[]> =>
        (await models.byWords(books, { stream: 's', text: '', limit: 100, ...query })).map(({ key }) => key);

      it('are found by their words, whatever their case, form and order', async () => {
        await commit({
          put: [
            text('s/1', 'The player stole the ruby necklace.'),
            text('s/2', 'ÉTÉ, ﬁsh & 漢字 नमस्ते'),
            text('s/3', "It's 42° outside; don't_go \0 out"),
          ],
        });
        expect(await found({ text: 'NECKLACE ruby' })).toEqual(['s/1']);
        for (const word of ['été', 'e\u0301te\u0301', 'ete', 'FISH', '漢字', '漢', 'नमस्ते'])
          expect(await found({ text: word })).toEqual(['s/2']);
        for (const word of ['42', 'don', 'GO']) expect(await found({ text: word })).toEqual(['s/3']);
        for (const none of ['', ' .,"\'_*', 'neck', 'stolen', 'et']) expect(await found({ text: none })).toEqual([]);
      });

      it.each(sameWords)('are found by words that are written differently: %s', async (_, same) => {
        await commit({ put: [text('s/1', same.text), text('s/2', '…')] });
        expect(await found({ text: same.query })).toEqual(['s/1']);
        expect(await found({ text: same.other })).toEqual([]);
      });

      it('are found only within their stream', async () => {
        await commit({ put: [text('s/1', 'ruby'), text('t/1', 'ruby'), text('S/1', 'ruby'), text('s/2', 't s')] });
        expect(await found({ text: 'ruby' })).toEqual(['s/1']);
        expect(await found({ text: 'ruby', stream: 'S' })).toEqual(['S/1']);
        expect(await found({ text: 'ruby', stream: 'nobody' })).toEqual([]);
      });

      it('are sorted by more and rarer matching words, then by the latest order, up to the limit', async () => {
        await commit({
          put: [
            text('s/1', 'the king'),
            text('s/2', 'the ruby'),
            text('s/3', 'the king and the ruby'),
            text('s/4', 'the king'),
            text('s/5', 'the fool'),
          ],
        });
        expect(await found({ text: 'the ruby king' })).toEqual(['s/3', 's/2', 's/4', 's/1', 's/5']);
        expect(await found({ text: 'the ruby king', limit: 2 })).toEqual(['s/3', 's/2']);
        const [best, next] = await models.byWords(books, { stream: 's', text: 'ruby crown', limit: 9 });
        const ruby = 1 / (1 + Math.log(2));
        expect(best).toMatchObject({ key: 's/3', order: 's/3', score: expect.closeTo(ruby / (ruby + 1), 5) });
        expect(next?.key).toBe('s/2');
        const [whole] = await models.byWords(books, { stream: 's', text: 'ruby the king and', limit: 1 });
        expect(whole?.score).toBeCloseTo(1, 5);
      });

      it('are found within a range of positions', async () => {
        await commit({ put: ['1', '2', '3', '4'].map((n) => text(`s/${n}`, 'ruby', n)) });
        expect(await found({ text: 'ruby', within: { above: '1', upTo: '3' } })).toEqual(['s/3', 's/2']);
      });

      it('are found up to a position, however many rows follow it', async () => {
        await commit({ put: [text('s/a', 'ruby', '0000')] });
        const later = Array.from({ length: WORD_ROWS + 1 }, (_, n) => text(`s/${n}`, 'ruby', `1${n}`));
        await commit({ put: later });
        expect(await found({ text: 'ruby', within: { upTo: '0000' } })).toEqual(['s/a']);
      });

      describe('in groups', () => {
        const ofGroup = (key: string, words: string, group: string | null) => text(key, words, key, group);

        it('are found only within the groups of the query, and count only there', async () => {
          const odd = `'"\\) OR "it's" | & \u{1F409} \0`;
          await commit({
            put: [
              ofGroup('s/1', 'the king', 'a'),
              ofGroup('s/2', 'the ruby', 'b'),
              ofGroup('s/3', 'the ruby king', null),
              ofGroup('s/4', 'the ruby', odd),
              ofGroup('s/5', '…', 'a'),
              ofGroup('t/1', 'the ruby', 'a'),
            ],
          });
          const all = await found({ text: 'the ruby king' });
          expect(all).toHaveLength(4);
          expect(await found({ text: 'the ruby king', groups: ['a'] })).toEqual(['s/1']);
          expect(await found({ text: 'the ruby king', groups: ['a', 'b', 'a'] })).toEqual(['s/2', 's/1']);
          expect(await found({ text: 'ruby', groups: [odd, 'c'] })).toEqual(['s/4']);
          for (const groups of [[], ['c'], ['A'], ['']]) expect(await found({ text: 'the', groups })).toEqual([]);
          // No word finds a group: only the text is searched.
          expect(await found({ text: 'a b', groups: ['a', 'b'] })).toEqual([]);
          expect(await found({ text: 'ruby', groups: ['a', 'b'], within: { upTo: 's/1' } })).toEqual([]);
        });

        it('have the same scores whatever other groups hold, and are found however many rows of these follow', async () => {
          const asked = { stream: 's', text: 'ruby king', groups: ['a'], limit: 9 };
          await commit({
            put: [ofGroup('s/1', 'ruby', 'a'), ofGroup('s/2', 'king', 'a'), ofGroup('s/3', 'king', 'a')],
          });
          const alone = await models.byWords(books, asked);
          expect(alone.map(({ key }) => key)).toEqual(['s/1', 's/3', 's/2']);
          await commit({ put: Array.from({ length: WORD_ROWS + 1 }, (_, n) => ofGroup(`s/x${n}`, 'ruby', 'b')) });
          const among = await models.byWords(books, asked);
          expect(among.map(({ key }) => key)).toEqual(['s/1', 's/3', 's/2']);
          for (const [at, { score }] of alone.entries()) expect(among[at]?.score).toBeCloseTo(score, 10);
        });

        it('are found by another text of the same row, in its group', async () => {
          await commit({ put: [ofGroup('s/1', 'ruby', 'a')] });
          await commit({ put: [ofGroup('s/1', 'pearl', 'b')] });
          expect(await found({ text: 'ruby pearl', groups: ['a'] })).toEqual([]);
          expect(await found({ text: 'pearl', groups: ['b'] })).toEqual(['s/1']);
          await commit({ put: [text('s/1', 'pearl', 's/9', 'b')] });
          expect(await found({ text: 'pearl', groups: ['b'] })).toEqual(['s/1']);
        });

        it('count as of every group in a build of another version, until a build with groups is swapped in', async () => {
          await commit({ put: [text('s/1', 'ruby'), text('s/2', 'ruby')] });
          const mine = async () =>
            (await models.byWords(books2, { stream: 's', text: 'ruby', groups: ['a'], limit: 9 })).map(
              ({ key }) => key,
            );
          expect(await mine()).toEqual(['s/2', 's/1']);
          const next = await models.open(books2);
          await commit({ put: [ofGroup('s/1', 'ruby', 'a'), ofGroup('s/2', 'ruby', 'b')] }, next);
          expect(await mine()).toEqual(['s/2', 's/1']);
          await models.swapIn(next);
          expect(await mine()).toEqual(['s/1']);
          expect(await found({ text: 'ruby', groups: ['a'] })).toEqual(['s/2', 's/1']);
        });
      });

      it('follow the row: another text, another position, none, removed', async () => {
        await commit({ put: ['1', '2', '3', '4'].map((n) => text(`s/${n}`, `ruby ${n}`, n)) });
        const moved = text('s/4', 'ruby 4', '0');
        await commit({ put: [text('s/1', 'pearl', '1'), text('s/2', null, '2'), moved], remove: ['s/3'] });
        expect(await found({ text: 'ruby 1 2 3 pearl' })).toEqual(['s/1', 's/4']);
        expect((await models.byWords(books, { stream: 's', text: 'ruby', limit: 9 }))[0]?.order).toBe('0');
        await commit({ put: [text('s/2', 'ruby again')] });
        expect(await found({ text: 'again' })).toEqual(['s/2']);
      });

      it('are limited in their words: long ones are cut, and only the first ones of a query count', async () => {
        const many = Array.from({ length: 5_000 }, (_, n) => `w${n}`).join(' ');
        await commit({ put: [text('s/1', `${'x'.repeat(5_000)} ${many}`)] });
        expect(await found({ text: 'x'.repeat(5_000) })).toEqual(['s/1']);
        expect(await found({ text: many })).toEqual(['s/1']);
        const others = Array.from({ length: 32 }, (_, n) => `o${n}`).join(' ');
        expect(await found({ text: `${others} w1` })).toEqual([]);
      });
    });

    describe('texts that become longer in compatibility form', () => {
      const word = (n: number): string => `${10_000 + n}${'ﷲ'.repeat(30)}`;
      const wordBytes = 5 + 30 * 8;
      const kept = Math.ceil(262_144 / wordBytes);
      const first = async (query: string): Promise<string | undefined> =>
        (await models.byWords(books, { stream: 's', text: query, limit: 1 }))[0]?.key;

      it('are found by their first words, a quarter of a megabyte of them, and delay nothing else', async () => {
        const many = Array.from({ length: 1_700 }, (_, n) => word(n)).join(' ');
        expect(await commit({ put: [text('s/1', many), text('s/2', 'ruby')] })).toBe(true);
        expect([await first('ruby'), await first(word(0)), await first(word(kept - 1))]).toEqual(['s/2', 's/1', 's/1']);
        for (const n of [kept, kept + 1, 1_699]) expect(await first(word(n))).toBeUndefined();
      });
    });

    describe('vectors', () => {
      const floats = (...numbers: readonly number[]): Float32Array => new Float32Array(numbers);
      const without = async (embedder: string, stream?: string, limit = 100): Promise<readonly string[]> => {
        const rows = await models.withoutVector(books, {
          embedder,
          limit,
          ...(stream === undefined ? {} : { stream }),
        });
        return rows.map(({ key }) => key).sort();
      };
      const vectors = async (embedder: string, stream = 's') =>
        (await models.vectors(books, { embedder, stream, limit: 100 })).map(({ key, vector }) => [key, ...vector]);
      const set = (key: string, of: string, vector: Float32Array | null, embedder = 'e@1'): Promise<void> =>
        models.setVectors(books, embedder, [{ key, text: of, vector }]);

      it('are missing for every text until they are set, in one stream or in all', async () => {
        await commit({
          put: [text('s/1', 'one'), text('s/2', 'two'), text('t/1', 'three'), text('s/3', null), put('s/4')],
        });
        expect(await without('e@1')).toEqual(['s/1', 's/2', 't/1']);
        expect(await without('e@1', 's')).toEqual(['s/1', 's/2']);
        expect(await without('e@1', 's', 1)).toHaveLength(1);
        expect(await models.withoutVector(books, { embedder: 'e@1', stream: 't', limit: 9 })).toEqual([
          { key: 't/1', text: 'three' },
        ]);
        await set('s/1', 'one', floats(1, 2));
        expect(await without('e@1')).toEqual(['s/2', 't/1']);
      });

      it('are listed as missing with texts that no embedder has seen first, newest first, within one stream', async () => {
        await commit({ put: ['1', '2', '3', '4'].map((n) => text(`s/${n}`, n, n)) });
        await set('s/4', '4', floats(4), 'd@1');
        await set('s/2', '2', floats(2), 'f@1');
        const query = { embedder: 'e@1', stream: 's' };
        const keys = async (limit: number) =>
          (await models.withoutVector(books, { ...query, limit })).map(({ key }) => key);
        expect((await keys(9)).slice(0, 2)).toEqual(['s/3', 's/1']);
        expect((await keys(9)).slice(2).sort()).toEqual(['s/2', 's/4']);
        expect([await keys(1), await keys(2), (await keys(3)).length]).toEqual([['s/3'], ['s/3', 's/1'], 3]);
      });

      it('are listed as missing and counted within a range of one stream', async () => {
        await commit({ put: ['1', '2', '3', '4'].map((n) => text(`s/${n}`, n, n)) });
        await set('s/2', '2', floats(2), 'd@1');
        await set('s/3', '3', floats(3), 'f@1');
        const look = async (within: { readonly above?: string; readonly upTo?: string }) => {
          const query = { embedder: 'e@1', stream: 's', within, limit: 9 };
          const keys = (await models.withoutVector(books, query)).map(({ key }) => key).sort();
          expect(await models.countWithoutVector(books, query)).toBe(keys.length);
          return keys;
        };
        expect(await look({ above: '1' })).toEqual(['s/2', 's/3', 's/4']);
        expect(await look({ upTo: '2' })).toEqual(['s/1', 's/2']);
        expect(await look({ above: '1', upTo: '3' })).toEqual(['s/2', 's/3']);
        expect(await look({ above: '4' })).toEqual([]);
      });

      it('are counted if missing, in one stream or in all, up to a limit', async () => {
        await commit({ put: [text('s/1', 'one'), text('s/2', 'two'), text('t/1', 'three')] });
        const count = (embedder: string, limit: number, stream?: string): Promise<number> =>
          models.countWithoutVector(books, { embedder, limit, ...(stream === undefined ? {} : { stream }) });
        expect([await count('e@1', 9), await count('e@1', 2), await count('e@1', 9, 's')]).toEqual([3, 2, 2]);
        await set('s/1', 'one', floats(1));
        await set('t/1', 'three', null);
        expect([await count('e@1', 9), await count('e@1', 9, 't'), await count('f@1', 9)]).toEqual([1, 0, 3]);
        expect(await models.countWithoutVector(projection('films'), { embedder: 'e@1', limit: 9 })).toBe(0);
      });

      it('that an embedder cannot make are listed for a stream and a range', async () => {
        await commit({ put: ['1', '2', '3'].map((n) => text(`s/${n}`, n, n)) });
        const has = (embedder: string, within = {}, stream = 's'): Promise<boolean> =>
          models.hasMeaningless(books, { embedder, stream, within });
        await set('s/1', '1', floats(1));
        expect(await has('e@1')).toBe(false);
        await set('s/2', '2', null);
        expect([await has('e@1'), await has('f@1'), await has('e@1', {}, 't')]).toEqual([true, false, false]);
        expect([await has('e@1', { above: '2' }), await has('e@1', { above: '1', upTo: '2' })]).toEqual([false, true]);
      });

      it('are returned bit by bit, by order, within a range and up to a limit', async () => {
        const odd = floats(0.1, -0, Number.MAX_VALUE, 1e-45, NaN);
        await commit({ put: ['1', '2', '3'].map((n) => text(`s/${n}`, n, `${9 - Number(n)}`)) });
        // A view that begins at an offset where a Float32Array cannot begin in another buffer.
        await set('s/1', '1', new Float32Array([9, ...odd]).subarray(1));
        await set('s/2', '2', floats(2));
        await set('s/3', '3', floats(3));
        const page = await models.vectors(books, { embedder: 'e@1', stream: 's', within: { above: '6' }, limit: 1 });
        expect(page).toEqual([{ key: 's/2', order: '7', vector: floats(2) }]);
        expect(await vectors('e@1')).toEqual([
          ['s/3', 3],
          ['s/2', 2],
          ['s/1', ...odd],
        ]);
        expect(
          await models.vectors(books, { embedder: 'e@1', stream: 's', within: { upTo: '7' }, limit: 9 }),
        ).toHaveLength(2);
        expect(await vectors('e@1', 't')).toEqual([]);
      });

      it('of different embedders are never mixed', async () => {
        await commit({ put: [text('s/1', 'one'), text('s/2', 'two')] });
        await set('s/1', 'one', floats(1));
        await set('s/2', 'two', floats(2), 'e@2');
        expect([await vectors('e@1'), await vectors('e@2')]).toEqual([[['s/1', 1]], [['s/2', 2]]]);
        expect([await without('e@1'), await without('e@2', 's'), await without('d@1')]).toEqual([
          ['s/2'],
          ['s/1'],
          ['s/1', 's/2'],
        ]);
        await set('s/1', 'one', floats(3), 'e@2');
        expect([await vectors('e@1'), await vectors('e@2')]).toEqual([
          [],
          [
            ['s/1', 3],
            ['s/2', 2],
          ],
        ]);
      });

      it('that an embedder cannot make are not requested again', async () => {
        await commit({ put: [text('s/1', 'one')] });
        await set('s/1', 'one', null);
        expect([await without('e@1'), await vectors('e@1'), await without('e@2')]).toEqual([[], [], ['s/1']]);
      });

      it('are not overwritten by a null of the same embedder', async () => {
        await commit({ put: [text('s/1', 'one'), text('s/2', 'two')] });
        await set('s/1', 'one', floats(1));
        await set('s/1', 'one', null);
        expect([await vectors('e@1'), await without('e@1')]).toEqual([[['s/1', 1]], ['s/2']]);
        await set('s/1', 'one', null, 'e@2');
        expect([await vectors('e@1'), await without('e@2')]).toEqual([[], ['s/2']]);
        await set('s/2', 'two', null);
        await set('s/2', 'two', floats(2));
        expect(await vectors('e@1')).toEqual([['s/2', 2]]);
      });

      it('are removed with their text, and stay when the rest of the row changes', async () => {
        await commit({ put: [text('s/1', 'one', '1'), text('s/2', 'two', '2'), text('s/3', 'three', '3')] });
        for (const [key, of] of [
          ['s/1', 'one'],
          ['s/2', 'two'],
          ['s/3', 'three'],
        ] as const)
          await set(key, of, floats(7));
        await commit({ put: [text('s/1', 'one', '5'), text('s/2', 'other', '2')], remove: ['s/3'] });
        expect(await vectors('e@1')).toEqual([['s/1', 7]]);
        expect(await without('e@1')).toEqual(['s/2']);
      });

      it('are not set on a row whose text has changed since, or that is gone', async () => {
        await commit({ put: [text('s/1', 'one'), text('s/2', 'two')] });
        await commit({ put: [text('s/1', 'other')], remove: ['s/2'] });
        await models.setVectors(books, 'e@1', [
          { key: 's/1', text: 'one', vector: floats(1) },
          { key: 's/2', text: 'two', vector: floats(2) },
        ]);
        expect([await vectors('e@1'), await without('e@1')]).toEqual([[], ['s/1']]);
      });

      it('are copied to a new build for texts that are the same there', async () => {
        await commit({ put: [text('s/1', 'one'), text('s/2', 'two')] });
        await set('s/1', 'one', floats(1));
        await set('s/2', 'two', floats(2));
        const next = await models.open(books2);
        await commit({ put: [text('s/1', 'one'), text('s/2', 'other')] }, next);
        expect(await vectors('e@1')).toEqual([
          ['s/1', 1],
          ['s/2', 2],
        ]);
        await models.swapIn(next);
        expect(await vectors('e@1')).toEqual([['s/1', 1]]);
        expect(await without('e@1')).toEqual(['s/2']);
      });

      it('are neither found nor set while there is no build', async () => {
        const films = projection('films');
        await models.setVectors(films, 'e@1', [{ key: 's/1', text: 'one', vector: floats(1) }]);
        const nothing = [
          await models.withoutVector(films, { embedder: 'e@1', limit: 9 }),
          await models.vectors(films, { embedder: 'e@1', stream: 's', limit: 9 }),
          await models.byWords(films, { stream: 's', text: 'one', limit: 9 }),
        ];
        expect(nothing).toEqual([[], [], []]);
      });
    });

    describe('progress', () => {
      it('is -1 for a stream that was never seen', async () => {
        expect(await models.progress(books, 's')).toBe(-1);
        const { streams } = await models.load(build, [], ['s']);
        expect(streams.get('s')).toEqual({ revision: -1, parked: false });
      });

      it('advances with the rows of one commit', async () => {
        expect(await commit({ put: [put('a')], progress: [{ stream: 's', from: -1, to: 4 }] })).toBe(true);
        expect(await models.progress(books, 's')).toBe(4);
        expect((await models.load(build, [], ['s', 't'])).streams.get('s')).toEqual({ revision: 4, parked: false });
      });

      it('makes a batch based on another revision fail without writing any of it', async () => {
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
        expect(await models.parkedCount([books])).toBe(0);
        expect((await models.open(books)).position).toBe(0);
      });

      it('includes the global position of the build', async () => {
        await commit({ position: 17 });
        expect((await models.open(books)).position).toBe(17);
      });
    });

    describe('parked events', () => {
      it('stop their stream for this projection only, and are listed with their details', async () => {
        const films = await models.open(projection('films'));
        await commit({ parked: [poison('s')] });
        expect((await models.load(build, [], ['s', 't'])).streams.get('s')).toEqual({ revision: -1, parked: true });
        expect((await models.load(films, [], ['s'])).streams.get('s')).toEqual({ revision: -1, parked: false });
        expect(await models.parked(10)).toEqual([{ projection: 'books', version: 1, ...poison('s') }]);
      });

      it('are counted in full and listed up to a limit', async () => {
        await commit({ parked: [poison('s'), poison('r'), poison('t')] });
        expect(await models.parkedCount([books])).toBe(3);
        expect((await models.parked(2)).map(({ stream }) => stream)).toEqual(['r', 's']);
      });

      it('do not count in the build of an older version, which is kept for a roll-back, and delay no reader there', async () => {
        await models.swapIn(await models.open(books2));
        // Rolled back, and forward again: the newer build is live as before.
        const back = await models.open(books);
        await commit({ parked: [poison('old')] }, back);
        await models.swapIn(back);
        await commit({ parked: [poison('s')] }, await models.open(books2));
        expect([await models.parkedCount([books2]), await models.parkedCount([books])]).toEqual([1, 1]);
        expect(await models.reached(books2, 's', 4, 3_600_000)).toBe(false);
      });

      it('count in the build that readers see, and in that of the version, unless it was abandoned', async () => {
        await models.swapIn(build);
        await commit({ parked: [poison('s')] });
        const next = await models.open(books2);
        expect(await models.parkedCount([books2])).toBe(1);
        await commit({ parked: [poison('s'), poison('t')] }, next);
        expect([await models.parkedCount([books2]), await models.parkedCount([books])]).toEqual([3, 1]);
        await models.abandon(next);
        expect(await models.parkedCount([books2])).toBe(1);
        await models.swapIn(await models.begin(books2));
        expect(await models.parkedCount([books])).toBe(0);
      });

      it('are removed with their build', async () => {
        await commit({ parked: [poison('s')] });
        await models.swapIn(await models.begin(books));
        expect(await models.parkedCount([books])).toBe(0);
        expect(await models.parked(10)).toEqual([]);
      });
    });

    describe('builds', () => {
      it('are reopened in their current state', async () => {
        await commit({ position: 3 });
        expect(await models.open(books)).toEqual({ ...build, position: 3, live: true });
      });

      it('hide their rows from readers while another one of the version is live', async () => {
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

      it('of a new version are read once they are swapped in; until then the previous version is read', async () => {
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

      it('that are the only ones are read while they are incomplete', async () => {
        const films = projection('films');
        const under = await models.open(films);
        await commit({ put: [put('a')] }, under);
        expect(under.live).toBe(false);
        expect(await models.get(films, 'a')).toEqual({ key: 'a' });
        expect(await models.open(films)).toEqual(under);
      });

      it('are reopened unchanged, and restarted, unless a newer version has replaced them', async () => {
        const newer = { ...books, version: books.version + 1 };
        expect(await models.reopen(books, build)).toMatchObject({ id: build.id, live: true });
        const same = await models.begin(books);
        await models.swapIn(same);
        expect(await models.reopen(books, build)).toEqual({ ...same, live: true });
        const next = await models.begin(newer);
        expect(await models.reopen(books, build)).toEqual({ ...same, live: true });
        await models.swapIn(next);
        expect(await models.reopen(books, build)).toBeNull();
        expect(await models.reopen(newer, next)).toEqual({ ...next, live: true });
        // An older version makes its own build when it starts, as after a roll-back.
        const back = await models.open(books);
        expect(await models.reopen(books, build)).toEqual(back);
      });

      it('that were interrupted are dropped when the one that readers see is opened or swapped in again, or another is begun', async () => {
        const stopped = await models.begin(books);
        const abandoned = await models.begin(books);
        await expect(commit({ put: [put('a')] }, stopped)).rejects.toThrow();
        expect((await models.open(books)).id).toBe(build.id);
        await expect(commit({ put: [put('a')] }, abandoned)).rejects.toThrow();
        const next = await models.begin(books);
        await expect(commit({ put: [put('a')] }, abandoned)).rejects.toThrow();
        await commit({ put: [put('a')] });
        await models.swapIn(build);
        await expect(commit({ put: [put('a')] }, next)).rejects.toThrow();
        expect(await keys()).toEqual(['a']);
      });

      it('that were abandoned are left to their readers, and all processes open one made as a replacement', async () => {
        await commit({ put: [put('a')], position: 17, progress: [{ stream: 's', from: -1, to: 2 }] });
        expect(await models.reached(books, 's', 2, 0)).toBe(true);
        await models.abandon(build);
        expect(await models.reached(books, 's', 2, 0)).toBe(false);
        await expect(models.swapIn(build)).rejects.toThrow('abandoned');
        const instead = await models.open(books);
        expect(instead).toMatchObject({ position: 0, live: false });
        expect([await models.open(books), await models.reopen(books, instead)]).toEqual([instead, instead]);
        expect(await models.reopen(books, build)).toEqual(instead);
        await expect(commit({ put: [put('b')], position: 18 })).rejects.toThrow('abandoned');
        expect(await keys()).toEqual(['a']);
        expect(await models.reachedPosition(books, 1, 0)).toBe(false);
        await commit({ put: [put('b')], position: 12 }, instead);
        await models.swapIn(instead);
        expect([await models.open(books), await keys()]).toEqual([{ ...instead, position: 12, live: true }, ['b']]);
        expect(await models.reachedPosition(books, 12, 0)).toBe(true);
      });

      it('that were abandoned while incomplete are dropped for the next one', async () => {
        await commit({ put: [put('a')] });
        const unfinished = await models.begin(books);
        await models.abandon(unfinished);
        expect((await models.open(books)).id).toBe(build.id);
        await models.abandon(build);
        expect(await models.open(books)).toMatchObject({ position: 0, live: false });
        expect(await keys()).toEqual(['a']);
      });

      it('of projections with other names are not affected by a swap', async () => {
        const films = projection('films');
        const other = await models.open(films);
        await commit({ put: [put('a')] }, other);
        await models.swapIn(await models.begin(books));
        expect(await models.get(films, 'a')).toEqual({ key: 'a' });
      });
    });

    describe('waiting', () => {
      it('ends immediately for a revision that exists', async () => {
        await commit({ progress: [{ stream: 's', from: -1, to: 2 }], position: 5 });
        expect(await models.reached(books, 's', 2, 0)).toBe(true);
        expect(await models.reached(books, 's', 3, 0)).toBe(false);
        expect(await models.reachedPosition(books, 5, 0)).toBe(true);
        expect(await models.reachedPosition(books, 6, 0)).toBe(false);
        expect(models.awaited()).toBe(false);
      });

      it('ends with the commit that brings the revision', async () => {
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

      it('ends with false when a parked event means that the revision will never exist', async () => {
        const never = models.reached(books, 's', 9, 1_000);
        await commit({ parked: [poison('s')] });
        expect(await never).toBe(false);
        expect(await models.reached(books, 's', 9, 1_000)).toBe(false);
      });

      it('continues behind a parked event while another build may still bring the revision', async () => {
        await commit({ parked: [poison('s')] });
        const next = await models.begin(books);
        const wait = models.reached(books, 's', 3, 1_000);
        await commit({ progress: [{ stream: 's', from: -1, to: 3 }] }, next);
        await models.swapIn(next);
        expect(await wait).toBe(true);
      });

      it('ends when a build with the revision is swapped in', async () => {
        const next = await models.begin(books);
        await commit({ progress: [{ stream: 's', from: -1, to: 2 }], position: 5 }, next);
        const waits = Promise.all([models.reached(books, 's', 2, 1_000), models.reachedPosition(books, 5, 1_000)]);
        await models.swapIn(next);
        expect(await waits).toEqual([true, true]);
      });

      it('is reported to a listener until the listener stops', async () => {
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
