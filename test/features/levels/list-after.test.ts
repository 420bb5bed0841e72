import { describe, expect, it } from 'vitest';

import { levels } from '../../../projections/levels.js';
import { listAfter, rowsBefore } from '../../../src/features/levels/list-after.js';
import type { ListQuery } from '../../../src/ports/read-models.js';

const stored = ['a', 'b', 'c'];
const readModels = {
  list: async (_: unknown, { beyond, limit }: ListQuery) => {
    const left = stored.filter((order) => beyond === undefined || order > beyond);
    return {
      rows: left.slice(0, limit).map((order) => ({ key: order, order, row: order })),
      more: left.length > limit,
    };
  },
};
const list = listAfter(rowsBefore(['x', 'y']), readModels);
const page = async (limit: number, beyond?: string) =>
  list.list(levels, { partition: 'p', direction: 'ascending', limit, ...(beyond === undefined ? {} : { beyond }) });

describe('a list with rows before the rows of a read model', () => {
  it.each([1, 2, 3, 4, 5, 9])('is complete in pages of %i', async (limit) => {
    const seen: unknown[] = [];
    for (let at: string | undefined, more = true; more;) {
      const next = await page(limit, at);
      expect(next.rows.length).toBeLessThanOrEqual(limit);
      seen.push(...next.rows.map(({ row }) => row));
      [at, more] = [next.rows.at(-1)?.order, next.more];
    }
    expect(seen).toEqual(['x', 'y', 'a', 'b', 'c']);
  });
});
