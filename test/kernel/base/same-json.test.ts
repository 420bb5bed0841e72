import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { jcs, type Json } from '../../../src/kernel/base/json.js';
import { isSameJson } from '../../../src/kernel/base/same-json.js';

describe('two JSON values', () => {
  it('are the same if their canonical forms are', () => {
    const value = fc.jsonValue({ maxDepth: 3 }).filter((one) => !JSON.stringify(one).includes('\\ud'));
    fc.assert(
      fc.property(value, value, (left, right) => {
        expect(isSameJson(left as Json, right as Json)).toBe(jcs(left as Json) === jcs(right as Json));
        expect(isSameJson(left as Json, JSON.parse(JSON.stringify(left)) as Json)).toBe(true);
      }),
    );
  });

  it.each<[Json | undefined, Json | undefined, boolean]>([
    [{ a: 1, b: [2] }, { b: [2], a: 1 }, true],
    [{ a: 1 }, { a: 1, b: null }, false],
    [[], {}, false],
    [{}, [], false],
    [[1], [1, 2], false],
    [null, undefined, false],
    [undefined, undefined, true],
    ['1', 1, false],
  ])('%j and %j: %s', (left, right, same) => {
    expect(isSameJson(left, right)).toBe(same);
  });
});
