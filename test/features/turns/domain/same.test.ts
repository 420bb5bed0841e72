import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { comparisonSlices, comparisonText, isEmpty, same } from '../../../../src/features/turns/domain/same.js';
import type { Json } from '../../../../src/kernel/base/json.js';
import { runs } from '../../../support/long.js';

const json = fc.jsonValue({ stringUnit: 'grapheme', maxDepth: 3 }).map((value) => value as Json);
const pair = (left: Json | undefined, right: Json | undefined) => [left, right] as const;

describe('a received value equals the recorded one', () => {
  it.each([
    pair({ a: 1, b: 2 }, { b: 2, a: 1 }),
    pair({ hp: 0.1 }, { hp: Math.fround(0.1) }),
    pair(16_777_217, 16_777_216),
    pair({ a: { b: null, c: [], d: '', e: {} } }, {}),
    pair({ a: { b: { c: null } } }, undefined),
    pair(undefined, null),
    pair('', []),
    pair({}, null),
    pair(-0, 0),
  ])('for %j and %j', (left, right) => {
    expect(same(left, right)).toBe(true);
    expect(same(right, left)).toBe(true);
    expect(comparisonText(left)).toBe(comparisonText(right));
  });

  it('in a form that is written in pieces', () => {
    const members = Object.fromEntries(Array.from({ length: 9_900 }, (_, n) => [`member ${String(n)}`, n]));
    for (const large of [members, [members], Object.keys(members), { text: ['x'.repeat(65_536), 'y'] }]) {
      const pieces = [...comparisonSlices(large)];
      expect(pieces.length).toBeGreaterThan(0);
      expect(Math.max(...pieces)).toBeLessThan(131_072);
    }
    expect([...comparisonSlices(members)].length).toBeGreaterThan(3);
  });

  it('after the wire and single precision, for any value', () => {
    const single = (value: Json): Json => {
      if (typeof value === 'number') return Number.isFinite(Math.fround(value)) ? Math.fround(value) : value;
      if (Array.isArray(value)) return (value as readonly Json[]).map(single);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, single(member)]));
    };
    fc.assert(
      fc.property(json, (value) => {
        expect(same(value, single(JSON.parse(JSON.stringify(value)) as Json))).toBe(true);
      }),
    );
  });
});

describe('a received value differs from the recorded one', () => {
  it.each([
    pair(0, null),
    pair(false, undefined),
    pair('1', 1),
    pair([1, 2], [2, 1]),
    pair([null], []),
    pair([{}], []),
    pair({ a: 0 }, {}),
    pair({ a: false }, {}),
    pair({ a: 1 }, { A: 1 }),
    pair(16_777_216, 16_777_220),
    pair(1e39, 1e40),
    pair('a', 'a '),
  ])('for %j and %j', (left, right) => {
    expect(same(left, right)).toBe(false);
    expect(same(right, left)).toBe(false);
  });
});

describe('comparing', () => {
  it('agrees with the comparison text in the fast and the slow path', () => {
    fc.assert(
      fc.property(json, json, (left, right) => {
        expect(same(left, right)).toBe(comparisonText(left) === comparisonText(right));
        expect(same(left, left)).toBe(true);
      }),
    );
  });

  it('agrees with the comparison text for any form of empty values', () => {
    const leaf = fc.constantFrom<Json>(null, '', 0, -0, false, 0.1, Math.fround(0.1), 1e39, '1e+39', 'a');
    const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.array(tie('tree'), { maxLength: 2 }),
        fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), tie('tree'), { maxKeys: 3 }),
      ),
    }));
    fc.assert(
      fc.property(tree, tree, (left, right) => {
        expect(same(left, right)).toBe(comparisonText(left) === comparisonText(right));
      }),
      { numRuns: runs(1_000, 5_000) },
    );
  });

  /** A value that counts the reads of one of its members. */
  const counted = (value: Record<string, Json>) => {
    const reads = { count: 0 };
    const proxy = new Proxy(value, {
      get: (target, name) => {
        reads.count += 1;
        return Reflect.get(target, name) as Json;
      },
    });
    return { proxy, reads };
  };
  const members = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`k${index}`, index]));

  it('reads each member once when only the order of keys differs', () => {
    const { proxy, reads } = counted(members);
    expect(same(proxy, Object.fromEntries(Object.entries(members).toReversed()))).toBe(true);
    expect(reads.count).toBe(1_000);
  });

  it('ends at the first difference', () => {
    const { proxy, reads } = counted(members);
    expect(same(proxy, { ...members, k0: 'else' })).toBe(false);
    expect(reads.count).toBe(1);
  });

  it('treats a member named __proto__ as data', () => {
    const odd = JSON.parse('{"__proto__": {"a": 1}}') as Json;
    expect(same(odd, {})).toBe(false);
    expect(same(odd, JSON.parse('{"__proto__": {"a": 1}}') as Json)).toBe(true);
  });

  it('treats values without content as empty, but not 0 and false', () => {
    expect([undefined, null, '', [], {}].map(isEmpty)).toEqual([true, true, true, true, true]);
    expect([0, false, ' ', [null], { a: null }].map(isEmpty)).toEqual([false, false, false, false, false]);
  });
});
