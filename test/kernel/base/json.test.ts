import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { isObject, type Json, jcs } from '../../../src/kernel/base/json.js';

describe('the canonical text of a JSON value', () => {
  it.each<[Json, string]>([
    [{ b: 1, a: [true, null, 'x'] }, '{"a":[true,null,"x"],"b":1}'],
    // Names in the order of their UTF-16 units (RFC 8785, 3.2.3).
    [
      { '€': 1, '\r': 2, '\ufb33': 3, '1': 4, '😀': 5, '\u0080': 6, ö: 7 },
      '{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}',
    ],
    [[333333333.3333333, 1e30, 4.5, 2e-3, 1e-27, -0], '[333333333.3333333,1e+30,4.5,0.002,1e-27,0]'],
    ['€$\u000f\nA\'B"\\\\"/', '"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'],
    [null, 'null'],
  ])('of %j follows RFC 8785', (value, text) => {
    expect(jcs(value)).toBe(text);
  });

  it('is JSON of the same value, whatever the order of its members', () => {
    const wellFormed = fc.jsonValue({ stringUnit: 'grapheme' });
    fc.assert(
      fc.property(wellFormed, (value) => {
        const text = jcs(value as Json);
        expect(jcs(JSON.parse(text) as Json)).toBe(text);
        if (!isObject(value)) return;
        expect(jcs(Object.fromEntries(Object.entries(value).reverse()) as Json)).toBe(text);
      }),
    );
  });

  it('equals the output of another implementation', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        expect(jcs(value as Json)).toBe(canonicalize(value));
      }),
    );
  });

  it('may contain the characters of an escape sequence', () => {
    const text = '\\ud800 and \\\\ud800';
    expect(JSON.parse(jcs([text]))).toEqual([text]);
  });

  it.each([NaN, Infinity, '\ud800', 'a\\\udfff', { '\udead': 1 }])(
    'is refused for %j, which JSON cannot hold',
    (value) => {
      expect(() => jcs(value)).toThrow();
    },
  );
});

describe('the test for an object', () => {
  it.each([
    [{}, true],
    [Object.create(null), true],
    [[], false],
    [null, false],
    ['text', false],
    [undefined, false],
  ])('returns for %j: %s', (value, expected) => {
    expect(isObject(value)).toBe(expected);
  });
});
