import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { JsonObject } from '../../../src/kernel/base/json.js';
import { mergePatch } from '../../../src/kernel/base/merge-patch.js';

/** The cases of RFC 7396, appendix A; those whose target or patch is not an object are nested one level deeper, in `x`. */
const cases: readonly (readonly [target: JsonObject, patch: JsonObject, result: JsonObject])[] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  [{ x: ['a', 'b'] }, { x: ['c', 'd'] }, { x: ['c', 'd'] }],
  [{ x: { a: 'b' } }, { x: ['c'] }, { x: ['c'] }],
  [{ x: { a: 'foo' } }, { x: null }, {}],
  [{ x: { a: 'foo' } }, { x: 'bar' }, { x: 'bar' }],
  [{ x: [1, 2] }, { x: { a: 'b', c: null } }, { x: { a: 'b' } }],
];

describe('a merge patch', () => {
  it.each(cases)('%j patched with %j is %j', (target, patch, result) => {
    const before = JSON.stringify([target, patch]);
    expect(mergePatch(target, patch)).toEqual(result);
    expect(JSON.stringify([target, patch])).toBe(before);
  });

  it('treats __proto__ and constructor as data', () => {
    const patch = JSON.parse('{"__proto__": {"admin": true}, "constructor": {"x": 1}}') as JsonObject;
    const merged = mergePatch({ a: 1 }, patch);
    expect(Object.keys(merged).sort()).toEqual(['__proto__', 'a', 'constructor']);
    expect((merged as { admin?: unknown }).admin).toBeUndefined();
    expect(Object.keys(mergePatch(merged, { b: 1 }))).toContain('__proto__');
  });

  it('is idempotent', () => {
    const object = fc.dictionary(
      fc.string(),
      fc.oneof(fc.integer(), fc.constant(null), fc.dictionary(fc.string(), fc.integer())),
    );
    fc.assert(
      fc.property(object, object, (target, patch) => {
        const once = mergePatch(target, patch);
        expect(mergePatch(once, patch as JsonObject)).toEqual(once);
      }),
    );
  });
});
