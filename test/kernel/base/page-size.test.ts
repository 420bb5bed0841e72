import { describe, expect, it } from 'vitest';

import { jsonBytes } from '../../../src/kernel/base/json.js';
import { PAGE_BYTES, untilFull } from '../../../src/kernel/base/page-size.js';

describe('a page', () => {
  it.each<[title: string, sizes: number[], bound: number, taken: number[]]>([
    ['ends with what fills it', [3, 3, 3, 3], 6, [3, 3]],
    ['ends with what goes beyond it', [3, 5, 3], 6, [3, 5]],
    ['holds one thing at least, however large', [9, 1], 6, [9]],
    ['holds everything that does not fill it', [1, 2, 2], 6, [1, 2, 2]],
    ['is empty where there is nothing', [], 6, []],
  ])('%s', (_, sizes, bound, taken) => {
    expect([...untilFull(sizes, (size) => size, bound)]).toEqual(taken);
  });

  it('is near 4 MiB of JSON, counted in bytes', () => {
    expect(PAGE_BYTES).toBe(4_194_304);
    expect(jsonBytes({ text: 'é"' })).toBe('{"text":""}'.length + 2 + 2);
  });
});
