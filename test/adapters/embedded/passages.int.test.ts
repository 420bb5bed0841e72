import { describe, expect, it } from 'vitest';

import { ReadModelTables } from '../../../src/adapters/embedded/read-model-tables.js';
import { openReadsFile } from '../../../src/adapters/embedded/reads-file.js';

/** The number of positions that one call covers. */
const BLOCK = 100_000;

describe('an index of passages', () => {
  it('covers one block of positions in a call, so that conditions that never meet do not go through all', () => {
    const tables = new ReadModelTables(openReadsFile(':memory:'), 1);
    tables.create();
    const places = [1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5];
    const put = places.map((place) => ({
      ...{ key: `r${String(place)}`, row: { place }, index: { partition: 'x', order: String(place), tag: '' } },
      passages: [
        {
          ...{ place, partition: 'local', at: '2026-01-01T00:00:00.000Z', words: 'word', text: 'word' },
          tags: [place % 2 === 0 ? 'kind even' : 'kind odd', 'any thing'],
        },
      ],
    }));
    tables.write({ put, remove: [], progress: [], parked: [], position: 0 }, undefined);
    const find = (tags: readonly string[], below?: number) => {
      const asked = { partition: 'local', words: ['word'], beginnings: [], without: [], limit: 10 };
      const { hits, further } = tables.passages.find({
        ...asked,
        tags: tags.map((tag) => [tag]),
        ...(below === undefined ? {} : { below }),
      });
      return [hits.map(({ place }) => place), further];
    };
    expect(find(['kind even', 'any thing'])).toEqual([[], 3 * BLOCK]);
    expect(find(['kind even', 'any thing'], 3 * BLOCK)).toEqual([[BLOCK], BLOCK]);
    expect(find(['kind even', 'any thing'], BLOCK)).toEqual([[2], null]);
    expect(find(['kind odd'], 3 * BLOCK)).toEqual([[BLOCK + 1], BLOCK]);
    expect(find(['kind odd'], BLOCK)).toEqual([[BLOCK - 1, 1], null]);
  });
});
