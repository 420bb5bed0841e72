import { describe, expect, it } from 'vitest';

import { sinceOf, untilOf } from '../../../src/cli/shared/since.js';

const now = () => Date.parse('2026-11-25T12:00:00Z');

describe('a time on the command line', () => {
  it('is relative, or exactly as given [11.5e]', () => {
    expect(sinceOf(now)('7d')).toBe('2026-11-18T12:00:00.000Z');
    expect(sinceOf(now)('12h')).toBe('2026-11-25T00:00:00.000Z');
    expect(untilOf(now)('30m')).toBe('2026-11-25T11:30:00.000Z');
    expect(sinceOf(now)('2026-11-17T09:30:00Z')).toBe('2026-11-17T09:30:00Z');
  });

  it('may be a day, including both ends [11.5e]', () => {
    expect(sinceOf(now)('2026-11-17')).toBe('2026-11-17T00:00:00.000Z');
    expect(untilOf(now)('2026-11-17')).toBe('2026-11-17T23:59:59.999Z');
  });

  it('is refused with the accepted forms', () => {
    expect(() => sinceOf(now)('last tuesday')).toThrow('a day such as 2026-07-01');
  });
});
