import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { wordsInSlices } from '../../src/kernel/base/words.js';
import { drained } from '../../src/kernel/base/sliced.js';
import type { Clock } from '../../src/ports/clock.js';
import type { Build, ReadModelWriter } from '../../src/ports/read-model-writer.js';
import type { Passage, Projection, ReadModels } from '../../src/ports/read-models.js';
import type { PassageQuery, TextSearch } from '../../src/ports/text-search.js';
import { ManualClock } from '../support/manual-clock.js';
import { sameWords } from '../support/same-words.js';

type Searched = ReadModels & TextSearch & ReadModelWriter;
export type OpenedTextSearch = { readonly models: Searched; readonly dispose: () => Promise<void> };

const talk = (version = 1): Projection => ({
  name: 'talk',
  version,
  handles: [],
  idsOf: () => [],
  evolve: (row) => row,
  indexOf: () => ({ partition: '', order: '', tag: '' }),
  passagesOf: () => [],
});

const DAY = 24 * 3_600_000;
const START = Date.parse('2026-01-01T00:00:00Z');

/** A passage at a position; positions are a day apart. */
const passage = (place: number, text: string, tags: readonly string[] = [], partition = 'p'): Passage => ({
  place,
  partition,
  at: new Date(START + place * DAY).toISOString(),
  tags,
  text,
});

/** The promises of ports/text-search.ts, for every adapter. */
export const textSearchContract = (name: string, open: (clock: Clock) => Promise<OpenedTextSearch>): void => {
  describe(`${name} as text search`, () => {
    const clock = new ManualClock();
    let opened: OpenedTextSearch;
    let models: Searched;
    let build: Build;

    beforeEach(async () => {
      opened = await open(clock);
      models = opened.models;
      build = await models.open(talk());
      await models.swapIn(build);
    });

    afterEach(() => opened.dispose());

    const put = async (key: string, texts: readonly Passage[], into = build): Promise<void> => {
      const passages = texts.map((text) => ({ ...text, words: drained(wordsInSlices(text.text)).join(' ') }));
      const row = { key, row: { key }, index: { partition: 'p', order: key, tag: '' }, passages };
      await models.commit(into, { put: [row], remove: [], progress: [], parked: [], position: 0 });
    };
    /** Texts at the positions 1, 2, 3 and so on, each in its own row. */
    const say = async (...texts: readonly string[]): Promise<void> => {
      for (const [at, text] of texts.entries()) await put(`r${at + 1}`, [passage(at + 1, text)]);
    };
    const nothing = { partition: 'p', words: [], beginnings: [], without: [], tags: [], limit: 100 };
    const page = (query: Partial<PassageQuery>) => models.passages(talk(), { ...nothing, ...query });
    const places = async (query: Partial<PassageQuery>): Promise<readonly number[]> =>
      (await page(query)).hits.map(({ place }) => place);
    const word = (text: string): Promise<readonly number[]> => places({ words: drained(wordsInSlices(text)) });

    it('finds the passages that have all words, the last position first, with their rows', async () => {
      await say('The ruby is mine.', 'A pearl', 'Your RUBY, my pearl');
      expect(await page({ words: ['ruby'] })).toEqual({
        hits: [
          { place: 3, row: { key: 'r3' } },
          { place: 1, row: { key: 'r1' } },
        ],
        further: null,
      });
      expect(await word('pearl ruby')).toEqual([3]);
      expect(await word('emerald')).toEqual([]);
      expect(await word('rub')).toEqual([]);
    });

    it('finds every passage if no words are given', async () => {
      await say('one', '…', '');
      expect(await places({})).toEqual([3, 2, 1]);
    });

    it('finds words whatever their case, accents, form and script', async () => {
      await say(
        'ÉTÉ, ﬁsh',
        '漢字を勉強します。',
        'नमस्ते दुनिया',
        'Привет, Ёлка',
        'สวัสดีครับ',
        '\u202eevil\u202c \u0000 \u001b[31m',
        '안녕하세요 세계',
      );
      expect(await word('ete')).toEqual([1]);
      expect(await word('e\u0301te\u0301 FISH')).toEqual([1]);
      for (const part of ['漢', '勉強', '漢字']) expect(await word(part)).toEqual([2]);
      expect(await word('नमस्ते')).toEqual([3]);
      expect(await word('привет елка')).toEqual([4]);
      expect(await word('สวัสดี')).toEqual([5]);
      expect(await word('evil')).toEqual([6]);
      expect(await word('세계')).toEqual([7]);
      expect(await word('31m')).toEqual([6]);
    });

    it.each(sameWords)('finds words that are written differently: %s', async (_, { text, query, other }) => {
      await say('…', text);
      expect(await word(query)).toEqual([2]);
      expect(await word(other)).toEqual([]);
    });

    it('matches word prefixes, and not passages with an excluded word', async () => {
      await say('the lanterns', 'the lantern', 'the lamp', 'the LANTERNFISH sings');
      expect(await places({ beginnings: ['lantern'] })).toEqual([4, 2, 1]);
      expect(await places({ beginnings: ['lantern'], without: ['sings', 'lanterns'] })).toEqual([2]);
      expect(await places({ beginnings: ['la', 'si'] })).toEqual([4]);
      expect(await places({ without: ['lamp'] })).toEqual([4, 2, 1]);
      expect(await places({ words: ['lamp'], without: ['lamp'] })).toEqual([]);
    });

    it('finds only rows with one tag of each group, and nothing in another partition', async () => {
      await put('r1', [passage(1, 'ruby', ['by anna', 'kind said'])]);
      await put('r2', [passage(2, 'ruby', ['by bo', 'kind said'])]);
      await put('r3', [passage(3, 'ruby', ['by anna', 'kind did'])]);
      await put('r4', [passage(4, 'ruby', ['by anna', 'kind said'], 'q')]);
      expect(await places({ tags: [['by anna']] })).toEqual([3, 1]);
      expect(await places({ tags: [['by anna', 'by bo'], ['kind said']] })).toEqual([2, 1]);
      expect(await places({ tags: [['by ANNA']] })).toEqual([]);
      expect(await places({ tags: [['by anna']], partition: 'q', words: ['ruby'] })).toEqual([4]);
      expect(await places({ partition: 'nobody' })).toEqual([]);
    });

    it('treats tags as plain text, whatever syntax the search engine has', async () => {
      const hostile = [
        `'`,
        `"`,
        `\\`,
        `' | 'a`,
        `" OR "a`,
        'a:*',
        '*',
        'NEAR(a b)',
        ') OR (',
        `'); DROP TABLE rows; --`,
        '😀',
        '\0',
      ];
      for (const [at, tag] of hostile.entries()) await put(`r${at}`, [passage(at, 'a b', [tag])]);
      for (const [at, tag] of hostile.entries()) {
        expect(await places({ tags: [[tag]] })).toEqual([at]);
        const query = drained(wordsInSlices(tag));
        expect(await places({ words: query, beginnings: query, tags: [[tag]] })).toEqual(
          query.every((asked) => ['a', 'b'].includes(asked)) ? [at] : [],
        );
      }
    });

    it('finds within a time range, inclusive, even if times and positions differ in order by an hour', async () => {
      await say('ruby', 'ruby', 'ruby', 'ruby');
      const late = new Date(START + 5 * DAY - 3_000_000).toISOString();
      await put('late', [passage(5, 'pearl')]);
      await put('later', [{ ...passage(6, 'pearl'), at: late }]);
      const at = (day: number): number => START + day * DAY;
      expect(await places({ words: ['ruby'], sinceMs: at(3) })).toEqual([4, 3]);
      expect(await places({ words: ['ruby'], sinceMs: at(3) + 1 })).toEqual([4]);
      expect(await places({ words: ['ruby'], untilMs: at(1) })).toEqual([1]);
      expect(await places({ words: ['pearl'], untilMs: at(5) - 1 })).toEqual([6]);
      expect(await places({ words: ['pearl'], sinceMs: at(5) })).toEqual([5]);
      expect(await places({ sinceMs: at(6) })).toEqual([]);
      expect(await places({ untilMs: at(0) })).toEqual([]);
    });

    it('continues below a position, page by page', async () => {
      await say(...Array.from({ length: 10 }, (_, at) => (at % 2 === 0 ? 'ruby' : 'pearl')));
      const found: (readonly number[])[] = [];
      let below: number | undefined;
      for (let calls = 0; calls < 20; calls += 1) {
        const { hits, further } = await page({ words: ['ruby'], limit: 2, ...(below === undefined ? {} : { below }) });
        if (hits.length > 0) found.push(hits.map(({ place }) => place));
        if (further === null) break;
        below = further;
      }
      expect(found).toEqual([[9, 7], [5, 3], [1]]);
    });

    it('keeps the passages of a row, and finds those added to it', async () => {
      await put('r1', [passage(1, 'ruby')]);
      await put('r1', [passage(1, 'ruby'), passage(5, 'pearl'), passage(6, 'ruby again')]);
      expect(await word('ruby')).toEqual([6, 1]);
      expect(await word('pearl')).toEqual([5]);
    });

    it('searches the build that readers see', async () => {
      await say('ruby');
      const next = await models.open(talk(2));
      await put('r1', [passage(1, 'pearl')], next);
      expect([await word('ruby'), await word('pearl')]).toEqual([[1], []]);
      await models.swapIn(next);
      expect([await word('ruby'), await word('pearl')]).toEqual([[], [1]]);
    });

    it('finds positions far apart, and texts that are long or become longer in compatibility form', async () => {
      await put('r1', [passage(1, `${'ﷺ '.repeat(60_000)} behind`)]);
      await put('r2', [{ ...passage(2, `${'x'.repeat(5_000)} ${'word '.repeat(13_000)}`), place: 9_000_000_000_000 }]);
      expect((await everywhere({ words: ['word'] })).map((place) => place)).toEqual([9_000_000_000_000]);
      expect(await everywhere({ words: drained(wordsInSlices('x'.repeat(5_000))) })).toEqual([9_000_000_000_000]);
      expect(await everywhere({ words: drained(wordsInSlices('ﷺ')) })).toContain(1);
    });

    /** The positions of all pages. */
    const everywhere = async (query: Partial<PassageQuery>): Promise<readonly number[]> => {
      const found: number[] = [];
      let below: number | null | undefined;
      for (let calls = 0; below !== null && calls < 50; calls += 1) {
        const { hits, further } = await page({ ...query, ...(below === undefined ? {} : { below }) });
        found.push(...hits.map(({ place }) => place));
        below = further;
      }
      return found;
    };
  });
};
