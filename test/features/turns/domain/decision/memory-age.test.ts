import { describe, expect, it } from 'vitest';

import { ageInWords } from '../../../../../src/features/turns/domain/decision/memory-age.js';
import { ageOf, newestLast } from '../../../../../src/features/turns/domain/decision/memory-times.js';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('the age of a memory', () => {
  it.each([
    [0, 'just now'],
    [2 * MINUTE - 1, 'just now'],
    [2 * MINUTE, 'two minutes ago'],
    [10 * MINUTE, 'ten minutes ago'],
    [12 * MINUTE, 'twelve minutes ago'],
    [13 * MINUTE, '13 minutes ago'],
    [HOUR - 1, '59 minutes ago'],
    [HOUR, 'an hour ago'],
    [2 * HOUR, 'two hours ago'],
    [DAY - 1, '23 hours ago'],
    [DAY, 'yesterday'],
    [2 * DAY, 'two days ago'],
    [7 * DAY - 1, 'six days ago'],
    [7 * DAY, 'a week ago'],
    [21 * DAY, 'three weeks ago'],
    [31 * DAY, 'a month ago'],
    [100 * DAY, 'three months ago'],
    [365 * DAY, 'a year ago'],
    [800 * DAY, 'two years ago'],
    [36_500 * DAY, '100 years ago'],
  ])('of %i seconds is "%s" [13.3a]', (seconds, words) => {
    expect(ageInWords(seconds)).toBe(words);
  });

  it('is that of something new where clocks differ a little, and unknown where they were set back [13.3a]', () => {
    expect(ageInWords(-30)).toBe('just now');
    expect(ageInWords(-HOUR)).toBeNull();
  });

  it('has the words of the ruleset, with digits [13.6e]', () => {
    const own = { minutes: 'vor {n} Minuten', day: 'gestern' };
    expect(ageInWords(3 * MINUTE, own)).toBe('vor 3 Minuten');
    expect(ageInWords(DAY, own)).toBe('gestern');
    expect(ageInWords(HOUR, own)).toBe('an hour ago');
  });

  it('takes a number as a number, whatever the words are [13.6e]', () => {
    expect(ageInWords(3 * HOUR, { hours: "$& {n} $' {n}" })).toBe("$& 3 $' 3");
  });
});

describe('the times of memories', () => {
  const at = (storedAt: string | undefined, more: object = {}) => ({
    type: 'observation',
    ...(storedAt === undefined ? {} : { storedAt }),
    ...more,
  });
  const promptAt = '2026-03-02T12:00:00.000Z';
  const noClock = { promptAt, gameTime: undefined };

  it('are counted from the opening of the turn [13.3a]', () => {
    expect(ageOf(at('2026-03-02T11:50:00.000Z'), noClock)).toBe('ten minutes ago');
    expect(ageOf(at('2026-03-02T11:50:00.000Z'), { promptAt: undefined, gameTime: undefined })).toBeNull();
  });

  it('are those of the game where it has a clock, whatever the time of the server [13.3b]', () => {
    const memory = (gameTime: number | string) => at('2026-03-02T11:59:59.000Z', { gameTime });
    expect(ageOf(memory(1_000), { promptAt, gameTime: 1_000 + 2 * DAY })).toBe('two days ago');
    const evening = { promptAt, gameTime: '0412-06-01T20:00:00Z' };
    expect(ageOf(memory('0412-06-01T17:00:00+01:00'), evening)).toBe('four hours ago');
    expect(ageOf(memory('0412-06-01t20:00:00z'), evening)).toBe('just now');
  });

  it('are unknown for a memory from before the game had this clock [13.3c]', () => {
    const times = { promptAt, gameTime: 5_000 };
    expect(ageOf(at('2026-03-02T11:50:00.000Z'), times)).toBeNull();
    expect(ageOf(at('2026-03-02T11:50:00.000Z', { gameTime: '0412-06-01T20:00:00Z' }), times)).toBeNull();
  });

  it('are none for knowledge, and for memories that bodies recalled [13.3d]', () => {
    expect(ageOf({ ...at('2026-03-02T11:50:00.000Z'), type: 'knowledge' }, noClock)).toBeNull();
    expect(ageOf(at(undefined, { gameTime: 1 }), { promptAt, gameTime: 1 })).toBeNull();
  });

  it('order them: first what has no time, in its order, then the rest, newest last [13.3e]', () => {
    const given = [
      at('2026-03-02T11:50:00.000Z', { text: 'second' }),
      { ...at('2026-03-02T11:55:00.000Z', { text: 'known' }), type: 'knowledge' },
      at('2026-03-02T11:58:00.000Z', { text: 'last' }),
      at(undefined, { text: 'of a body' }),
      at('2025-03-02T11:58:00.000Z', { text: 'first' }),
    ];
    expect(newestLast(given).map((one) => 'text' in one && one.text)).toEqual([
      'known',
      'of a body',
      'first',
      'second',
      'last',
    ]);
  });
});
