import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { splitNames } from '../../../../src/features/search/domain/name-list.js';

describe('a list of names', () => {
  it.each([
    ['mira', ['mira']],
    ['mira,odo', ['mira', 'odo']],
    ['', ['']],
    ['a,,b', ['a', '', 'b']],
    ['a\\,b', ['a,b']],
    ['a\\,b,c', ['a,b', 'c']],
    ['a\\\\,b', ['a\\', 'b']],
    ['a\\\\\\,b', ['a\\,b']],
    ['C:\\temp,b', ['C:\\temp', 'b']],
    ['a\\', ['a\\']],
  ])('is read: %s [10.10n]', (list, names) => {
    expect(splitNames(list)).toEqual(names);
  });

  it('can name everything [10.10n]', () => {
    const name = fc.string({ unit: fc.constantFrom('a', ',', '\\', 'é') });
    fc.assert(
      fc.property(fc.array(name, { minLength: 1 }), (names) => {
        const list = names.map((one) => one.replace(/[\\,]/g, '\\$&')).join(',');
        expect(splitNames(list)).toEqual(names);
      }),
    );
  });
});
