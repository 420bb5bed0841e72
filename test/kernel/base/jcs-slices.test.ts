import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { jcs, type Json } from '../../../src/kernel/base/json.js';
import { jcsSlices } from '../../../src/kernel/base/jcs-slices.js';

const driven = (value: Json): { readonly text: string; readonly pauses: number } => {
  const work = jcsSlices(value);
  for (let pauses = 0; ; pauses += 1) {
    const { done, value: bytes } = work.next();
    if (done === true) return { text: bytes.toString(), pauses };
  }
};
const nested = (depth: number, inner: Json): Json =>
  depth === 0 ? inner : { [`level ${String(depth)}`]: [nested(depth - 1, inner)] };

describe('JCS in slices', () => {
  it('equals JCS for every value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = JSON.parse(JSON.stringify(value)) as Json;
        expect(driven(json).text).toBe(jcs(json));
      }),
    );
    const names = { '\u20ac': 1, '\r': 2, '1': 3, '\ud83d\ude00': [4, { b: 1, a: 2 }], '\ufb33': [], '\u00f6': {} };
    for (const value of [names, [], {}, '', 0, -0, null, [[], [{}]], { a: [1, { b: [] }, 2], '': { c: null } }])
      expect(driven(value).text).toBe(jcs(value));
  });

  it('equals JCS for values that take many slices', () => {
    const char = fc.constantFrom('a', '\u00e9', '\u{1f600}', '"', '\n', '\u20ac');
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 40 }), char, fc.integer({ min: 0, max: 6 }), (more, one, depth) => {
        const long = 'x'.repeat(more) + one.repeat(70_000);
        const value = nested(depth, {
          [long]: long,
          list: Array.from({ length: 3_000 }, (_, n) => ({ [long.slice(0, more)]: n })),
        });
        const { text, pauses } = driven(value);
        expect(text === jcs(value)).toBe(true);
        expect(pauses).toBeGreaterThan(0);
      }),
      { numRuns: 25 },
    );
    const many = nested(
      3,
      Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`name ${String((n * 7_919) % 20_000)}`, n])),
    );
    expect(driven(many).text === jcs(many)).toBe(true);
  });

  it.each<Json>([
    '\ud800',
    { a: ['\udc00x'] },
    { '\ud83d': 1 },
    [NaN],
    [-Infinity],
    'x'.repeat(70_000) + '\ud83d',
    `${'x'.repeat(65_535)}\ud83dx`,
  ])('refuses what JCS refuses', (value) => {
    expect(() => jcs(value)).toThrow();
    expect(() => driven(value)).toThrow();
  });

  it('pauses at any depth, and within a long text', () => {
    const list = Array.from({ length: 400_000 }, (_, n) => n);
    for (const value of [
      { list },
      nested(14, list),
      nested(14, 'x'.repeat(4_000_000)),
      { ['x'.repeat(4_000_000)]: 1 },
    ]) {
      const { pauses, text } = driven(value);
      expect(pauses).toBeGreaterThan(20);
      expect(text.length / pauses).toBeLessThan(200_000);
    }
    expect(driven({ list: ['short'] }).pauses).toBe(0);
  });
});
