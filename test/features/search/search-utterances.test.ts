import { wordsInSlices } from '../../../src/kernel/base/words.js';
import { drained } from '../../../src/kernel/base/sliced.js';
import { describe, expect, it } from 'vitest';

import { utterances, type UtterancesRow } from '../../../projections/utterances.js';
import { MemoryReadModels } from '../../support/memory/read-models.js';
import { searchUtterances } from '../../../src/features/search/search-utterances.js';
import type { PassageQuery, TextSearch } from '../../../src/ports/text-search.js';
import { ManualClock } from '../../support/manual-clock.js';
import { itLong } from '../../support/long.js';

const AT = '2026-01-01T00:00:00.000Z';

/** Memories of one mind with these texts, the oldest first. */
const searching = async (...texts: readonly string[]) => {
  const textSearch = new MemoryReadModels(new ManualClock());
  const build = await textSearch.open(utterances);
  const put = texts.map((text, place) => {
    const said = { kind: 'memory', place, revision: place, at: AT, by: [], to: [], text } as const;
    const row: UtterancesRow = {
      ...{ tenant: 'studio', npcId: 'mira', turnId: null, player: [], revision: place },
      utterances: [said],
    };
    const passages =
      utterances.passagesOf?.(row).map((said) => ({ ...said, words: drained(wordsInSlices(said.text)).join(' ') })) ??
      [];
    return { key: `k${place}`, row, index: utterances.indexOf(row), passages };
  });
  await textSearch.commit(build, { put, remove: [], progress: [], parked: [], position: 1 });
  return (q: string, below?: number, limit = 2, asked: PassageQuery[] = []) => {
    const passages = (...[of, query]: Parameters<TextSearch['passages']>): ReturnType<TextSearch['passages']> => {
      asked.push(query);
      return textSearch.passages(of, query);
    };
    return searchUtterances({ textSearch: { passages } }, 'studio', {
      ...{ q, limit },
      ...(below === undefined ? {} : { below }),
    });
  };
};
const revisions = ({ hits }: Awaited<ReturnType<Awaited<ReturnType<typeof searching>>>>): readonly number[] =>
  hits.map(({ revision }) => revision);

describe('a search', () => {
  itLong(
    'examines a bounded number of texts, and returns where to continue until it has read all [10.10i]',
    async () => {
      const search = await searching('the ruby', ...Array.from({ length: 5_200 }, () => 'ruby, the'));
      const first = await search('"the ruby"');
      expect([revisions(first), first.next]).toEqual([[], 201]);
      const second = await search('"the ruby"', first.next);
      expect([revisions(second), second.next]).toEqual([[0], undefined]);
    },
  );

  itLong('examines a bounded amount of text [10.10i]', async () => {
    const long = `ruby the ${'x '.repeat(40_000)}`;
    const first = await (await searching('the ruby', ...Array.from({ length: 150 }, () => long)))('"the ruby"');
    expect([revisions(first), first.next]).toEqual([[], 51]);
  });

  it('ends near a mebibyte of texts [10.10i]', async () => {
    const search = await searching(...Array.from({ length: 5 }, () => `ruby ${'x '.repeat(300_000)}`));
    const first = await search('ruby');
    expect([revisions(first), first.next]).toEqual([[4, 3], 3]);
    const all = await search('ruby', undefined, 5);
    expect([revisions(all), all.next]).toEqual([[4, 3], 3]);
  });

  it('sends the index only a few long prefixes, and matches all of them', async () => {
    const asked: PassageQuery[] = [];
    const search = await searching('a rubbish tower', 'a ruby tower', 'the ruby town');
    expect(revisions(await search('a* rub* ruby* tower*', undefined, 5, asked))).toEqual([1]);
    expect(asked.map(({ words, beginnings }) => [words, beginnings])).toEqual([[[], ['tower', 'ruby']]]);
    expect(revisions(await search('t*', undefined, 5, asked))).toEqual([2, 1, 0]);
    expect(asked.at(-1)?.beginnings).toEqual([]);
  });

  it('continues below its last hit, and ends when nothing is left', async () => {
    const search = await searching('ruby', 'ruby', 'pearl', 'ruby', 'ruby');
    const first = await search('ruby');
    expect([revisions(first), first.next]).toEqual([[4, 3], 3]);
    const second = await search('ruby', first.next);
    expect([revisions(second), second.next]).toEqual([[1, 0], undefined]);
  });
});
