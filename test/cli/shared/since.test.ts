import { describe, expect, it } from 'vitest';

import { asOfOf, expiryOf, sinceOf, untilOf } from '../../../src/cli/shared/since.js';

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

  it.each(['2026-11-17T25:00:00Z', '2026-11-17T09:30', '2026-02-30', '2026-11-17 and more', '2026-1-7'])(
    'is refused if it is misspelt: %s [11.5e]',
    (text) => {
      for (const parse of [sinceOf(now), untilOf(now), asOfOf(now), expiryOf])
        expect(() => parse(text)).toThrow('It must be a day such as');
    },
  );

  it('may be a revision, or the end of a day [11.5e]', () => {
    expect(asOfOf(now)('12')).toBe('12');
    expect(asOfOf(now)('2026-11-17')).toBe('2026-11-17T23:59:59.999Z');
    expect(expiryOf('2026-12-31')).toBe('2026-12-31T23:59:59.999Z');
    expect(() => expiryOf('7d')).toThrow('It must be a day');
  });
});
