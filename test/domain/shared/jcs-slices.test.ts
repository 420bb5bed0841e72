import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { jcs, type Json } from '../../../src/domain/shared/json.js';
import { jcsSlices } from '../../../src/domain/shared/jcs-slices.js';

const driven = (value: Json): { readonly text: string; readonly pauses: number } => {
  const work = jcsSlices(value);
  for (let pauses = 0; ; pauses += 1) {
    const { done, value: text } = work.next();
    if (done === true) return { text, pauses };
  }
};

describe('JCS in slices', () => {
  it('is JCS, of any value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = JSON.parse(JSON.stringify(value)) as Json;
        expect(driven(json).text).toBe(jcs(json));
      }),
    );
    const names = { '\u20ac': 1, '\r': 2, '1': 3, '\ud83d\ude00': [4, { b: 1, a: 2 }], '\ufb33': [], '\u00f6': {} };
    expect(driven(names).text).toBe(jcs(names));
  });

  it('pauses between the items of a long list', () => {
    expect(driven({ list: Array.from({ length: 100 }, () => 'x'.repeat(10_000)) }).pauses).toBeGreaterThan(2);
    expect(driven({ list: ['short'] }).pauses).toBe(0);
  });
});
