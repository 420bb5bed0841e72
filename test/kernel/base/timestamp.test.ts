import { describe, expect, it } from 'vitest';

import { instantOf } from '../../../src/kernel/base/timestamp.js';

describe('a timestamp', () => {
  it.each([
    ['2027-03-02T00:00:00Z', '2027-03-02T00:00:00.000Z'],
    ['2028-02-29t12:30:00.5z', '2028-02-29T12:30:00.500Z'],
    ['2027-01-01T00:30:00+01:00', '2026-12-31T23:30:00.000Z'],
    ['2000-02-29T23:59:59.123456789-00:30', '2000-03-01T00:29:59.123Z'],
  ])('%s is an instant', (text, instant) => {
    expect(new Date(instantOf(text) ?? NaN).toISOString()).toBe(instant);
  });

  it.each([
    '2027-02-30T00:00:00Z',
    '2027-02-29T00:00:00Z',
    '2100-02-29T00:00:00Z',
    '2027-04-31T00:00:00+02:00',
    '2027-13-01T00:00:00Z',
    '2027-00-10T00:00:00Z',
    '2027-01-00T00:00:00Z',
    '2027-01-01T24:00:00Z',
    '2027-01-01T24:01:00Z',
    '2027-01-01T23:60:00Z',
    '2016-12-31T23:59:60Z',
    '2027-01-01T00:00:00',
    '2027-01-01',
    '2027-01-01 00:00:00Z',
    'yesterday',
    '',
  ])('%j is not an instant', (text) => {
    expect(instantOf(text)).toBeNull();
  });
});
