import { describe, expect, it } from 'vitest';

import { momentOf } from '../../../src/kernel/http/as-of.js';

describe('asOf', () => {
  it.each([
    ['0', 0],
    ['17', 17],
    ['99999999999999999999', Number.MAX_SAFE_INTEGER],
    ['9'.repeat(400), Number.MAX_SAFE_INTEGER],
  ])('%s is a revision [10.1g]', (asOf, revision) => {
    expect(momentOf(asOf)).toEqual({ revision });
  });

  it('defaults to now', () => {
    expect(momentOf(undefined)).toBe('now');
  });

  it('is an instant if it is a timestamp [10.1g]', () => {
    expect(momentOf('2027-03-02T00:00:00.250Z')).toEqual({ timeMs: Date.parse('2027-03-02T00:00:00.250Z') });
  });

  it.each(['2027-02-30T00:00:00Z', '-1', '1.5', 'yesterday', ''])('is refused as %j', (asOf) => {
    expect(() => momentOf(asOf)).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID' }));
  });
});
