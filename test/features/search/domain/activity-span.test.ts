import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  beginOf,
  bucketAt,
  bucketOf,
  canBeWritten,
  spanOf,
  spanWithin,
  stepHours,
  stepText,
} from '../../../../src/features/search/domain/activity-span.js';

const at = (text: string): number => Date.parse(text);

describe('The span of an activity', () => {
  it('has steps of 1 to 23 hours, or of days [10.14e]', () => {
    expect(['1h', '23h', '1d', '30d'].map(stepHours)).toEqual([1, 23, 24, 720]);
    for (const step of ['24h', '0h', '1.5h', 'h', '1w', '1h ', '12345d', '']) expect(stepHours(step)).toBeNull();
    expect([1, 23, 24, 72].map(stepText)).toEqual(['1h', '23h', '1d', '3d']);
  });

  it('begins with the full hour or day, and ends at or after its end [10.14d]', () => {
    const hours = spanOf(at('2026-01-01T10:59:00Z'), at('2026-01-01T13:00:01Z'), 2);
    expect([hours.unit, hours.buckets, bucketAt(hours, 0), bucketAt(hours, 1)]).toEqual([
      'hours',
      2,
      '2026-01-01T10:00:00.000Z',
      '2026-01-01T12:00:00.000Z',
    ]);
    const days = spanOf(at('2026-01-01T10:59:00Z'), at('2026-01-03T00:00:00Z'), 24);
    expect([days.unit, days.buckets, bucketAt(days, 0)]).toEqual(['days', 2, '2026-01-01T00:00:00.000Z']);
    expect(spanOf(0, 0, 1).buckets).toBe(1);
  });

  it.each([1, 6, 24, 72])(
    'has the number of buckets for which its beginning was asked, in steps of %i hours [10.14e]',
    (hours) => {
      for (const to of [
        '2026-05-01T10:00:00.001Z',
        '2026-05-01T10:59:59.999Z',
        '2026-05-01T00:00:00Z',
        '2026-05-01T09:00:00Z',
      ]) {
        const span = spanOf(beginOf(at(to), hours, 24), at(to), hours);
        expect([to, span.buckets]).toEqual([to, 24]);
        expect(bucketOf(span, at(to) - 1)).toBe(23);
      }
    },
  );

  it('has only times that can be written [10.14e]', () => {
    expect(canBeWritten(spanOf(at('0000-01-01T00:00:00Z'), at('0000-01-02T00:00:00Z'), 1))).toBe(true);
    expect(canBeWritten(spanOf(at('9999-12-30T00:00:00Z'), at('9999-12-31T00:00:00Z'), 24))).toBe(true);
    expect(canBeWritten(spanOf(at('9999-12-30T00:00:00Z'), at('9999-12-31T01:00:00Z'), 24))).toBe(false);
    expect(canBeWritten(spanOf(at('0000-01-01T00:00:00+01:00'), at('0000-01-02T00:00:00Z'), 1))).toBe(false);
  });

  it('has at most as many buckets as requested, and covers all of it [10.14f]', () => {
    const time = fc.integer({ min: 0, max: at('2100-01-01T00:00:00Z') });
    fc.assert(
      fc.property(time, time, fc.integer({ min: 1, max: 1_000 }), (one, other, most) => {
        const [fromMs, toMs] = [Math.min(one, other), Math.max(one, other)];
        const span = spanWithin(fromMs, toMs, most);
        expect(span.buckets).toBeLessThanOrEqual(most);
        expect(span.fromMs).toBeLessThanOrEqual(fromMs);
        expect(span.toMs).toBeGreaterThanOrEqual(toMs);
        expect(bucketOf(span, fromMs)).toBe(0);
        expect(stepHours(stepText(span.hours)) ?? 'too long').not.toBe(0);
      }),
    );
  });
});
