import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  INPUT_BYTES,
  INPUT_VALUES,
  requireInputBytes,
  requireRecordable,
} from '../../../src/kernel/base/input-bytes.js';
import { type Json, jsonBytes, sizeAtMost } from '../../../src/kernel/base/json.js';

const members = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${String(n)}`, n]));

describe('the recorded part of a request', () => {
  it('is limited in bytes and in values, however they are nested [1.2x]', () => {
    expect([INPUT_BYTES, INPUT_VALUES]).toEqual([524_288, 10_000]);
    requireRecordable(members(INPUT_VALUES - 1));
    requireRecordable([{ text: 'x'.repeat(INPUT_BYTES - 100) }]);
    const tooMany = { code: 'EVENTS_TOO_LARGE', details: { limitValues: INPUT_VALUES } };
    for (const brought of [members(30_000), [members(6_000), members(6_000)], Array.from({ length: 5_000 }, () => [1])])
      expect(() => requireRecordable(brought)).toThrow(expect.objectContaining(tooMany));
    expect(() => requireRecordable('x'.repeat(INPUT_BYTES))).toThrow(/524290 bytes/);
    requireInputBytes(members(20_000));
  });

  it('is counted only up to its limit', () => {
    const counted = (value: Json, most: number) => sizeAtMost(value, most).values;
    expect([counted(7, 9), counted({ a: [1, null], b: {} }, 9)]).toEqual([1, 5]);
    expect(counted(members(1_000), 10)).toBe(11);
  });

  it('never takes more bytes than are counted for it', () => {
    const controls = String.fromCharCode(...Array.from({ length: 32 }, (_, code) => code));
    const values: readonly Json[] = [controls, { [controls]: controls }, '"\\\u2028\u{1f409}', -1.234567890123456e-300];
    for (const value of [...values, [], {}, null, [[{}], false], { a: { b: [] } }])
      expect(sizeAtMost(value, 100).bytesAtMost).toBeGreaterThanOrEqual(jsonBytes(value));
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(sizeAtMost(value as Json, 1_000_000).bytesAtMost).toBeGreaterThanOrEqual(jsonBytes(value as Json));
      }),
    );
  });
});
