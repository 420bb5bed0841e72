import { describe, expect, it } from 'vitest';

import { pointerPart, shortPointerPart, valueAt } from '../../../src/kernel/base/json-pointer.js';

describe('a JSON Pointer', () => {
  it('escapes what separates its parts (RFC 6901, section 3)', () => {
    expect(['a/b', 'm~n', '~1', ''].map(pointerPart)).toEqual(['a~1b', 'm~0n', '~01', '']);
  });

  it('shows the beginning of a long name, well formed', () => {
    expect(shortPointerPart('a/bcd', 3)).toBe('a~1b');
    expect(shortPointerPart('a😀', 2)).toBe('a\ufffd');
  });

  it('leads to own members and elements (RFC 6901, section 5)', () => {
    const body = { foo: ['bar', 'baz'], '': 0, 'a/b': 1, 'm~n': 8, '~1': 9 };
    expect(valueAt(body, '')).toBe(body);
    expect(['/foo/1', '/', '/a~1b', '/m~0n', '/~01'].map((pointer) => valueAt(body, pointer))).toEqual([
      'baz',
      0,
      1,
      8,
      9,
    ]);
    expect(['/none', '/foo/2', '/foo/0/x', '/constructor'].map((pointer) => valueAt(body, pointer))).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(valueAt(undefined, '/foo')).toBeUndefined();
  });
});
