import { describe, expect, it } from 'vitest';

import { defined } from '../../../src/kernel/base/defined.js';

describe('the members that are defined', () => {
  it('are kept as they are, also null, false, zero and empty texts', () => {
    const members = { a: null, b: false, c: 0, d: '', e: undefined };
    expect(Object.entries(defined(members))).toEqual([
      ['a', null],
      ['b', false],
      ['c', 0],
      ['d', ''],
    ]);
  });

  it('leave an object that is spread without members that hold nothing', () => {
    const name: string | undefined = undefined;
    expect(Object.keys({ id: 1, ...defined({ name }) })).toEqual(['id']);
  });
});
