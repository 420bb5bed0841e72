import { describe, expect, it } from 'vitest';

import { defined } from '../../../src/kernel/base/defined.js';

describe('the defined members of an object', () => {
  it('are kept unchanged, also null, false, zero and empty texts', () => {
    const members = { a: null, b: false, c: 0, d: '', e: undefined };
    expect(Object.entries(defined(members))).toEqual([
      ['a', null],
      ['b', false],
      ['c', 0],
      ['d', ''],
    ]);
  });

  it('leave no empty members in an object that they are spread into', () => {
    const name: string | undefined = undefined;
    expect(Object.keys({ id: 1, ...defined({ name }) })).toEqual(['id']);
  });
});
