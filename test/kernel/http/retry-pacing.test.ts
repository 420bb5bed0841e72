import { describe, expect, it } from 'vitest';

import { createRetryPacing, MOST_SECONDS, REFUSALS_PER_SECOND } from '../../../src/kernel/http/retry-pacing.js';
import { ManualClock } from '../../support/manual-clock.js';
import { seededRandom } from '../../support/seeded-random.js';

/** Clients that retry when the refusal tells them to, and are refused each time with the same wait. */
const crowd = (asked: number, spread = 0) => {
  const clock = new ManualClock();
  const pacing = createRetryPacing({ clock, random: seededRandom('crowd') });
  const due = new Map<number, number>();
  let second = 0;
  let told: number[] = [];
  const refuse = (): void => {
    const seconds = pacing.stretched(asked, spread);
    told.push(seconds);
    due.set(second + seconds, (due.get(second + seconds) ?? 0) + 1);
  };
  return {
    come: (count: number) => {
      for (let one = 0; one < count; one += 1) refuse();
    },
    leave: () => due.clear(),
    /** How many are refused in each of these seconds, and their Retry-After. */
    watch: async (seconds: number) => {
      const counts: number[] = [];
      told = [];
      for (let end = second + seconds; second < end;) {
        await clock.advance(1_000);
        second += 1;
        const coming = due.get(second) ?? 0;
        due.delete(second);
        for (let one = 0; one < coming; one += 1) refuse();
        counts.push(coming);
      }
      return { counts, mean: counts.reduce((sum, count) => sum + count, 0) / counts.length, told };
    },
  };
};

describe('Refused clients', () => {
  it('retry when the refusal says, while they are few', async () => {
    const { come, watch } = crowd(1);
    come(REFUSALS_PER_SECOND);
    const { told, mean } = await watch(30);
    expect(new Set(told)).toEqual(new Set([1]));
    expect(mean).toBe(REFUSALS_PER_SECOND);
  });

  it('retry at different times from the first refusal on if the refusal asks for it, however few they are [1.5i]', async () => {
    const { come, watch } = crowd(1, 2);
    come(60);
    const { told, counts } = await watch(3);
    expect(counts.every((count) => count > 0)).toBe(true);
    expect(new Set(told)).toEqual(new Set([1, 2, 3]));
  });

  it.each([1, 2])('retry less often the more of them wait, when the base wait is %i s [1.5j]', async (asked) => {
    expect([REFUSALS_PER_SECOND, MOST_SECONDS]).toEqual([100, 10]);
    const { come, watch } = crowd(asked);
    come(400);
    await watch(20);
    const { mean, told } = await watch(60);
    expect(mean).toBeGreaterThan(REFUSALS_PER_SECOND * 0.75);
    expect(mean).toBeLessThan(REFUSALS_PER_SECOND * 1.25);
    expect(Math.min(...told)).toBe(asked);
  });

  it.each([0, 2])(
    'never wait longer than ten seconds, however many they are, and retry at different times (spread over %i s) [1.5j]',
    async (spread) => {
      const { come, watch } = crowd(1, spread);
      come(10_000);
      await watch(20);
      const { counts, told } = await watch(60);
      expect(Math.max(...told)).toBe(MOST_SECONDS);
      expect(Math.max(...counts)).toBeLessThan(2 * Math.min(...counts));
    },
  );

  it.each([0, 2])('wait as long as the refusal says if that is longer (spread over %i s)', async (spread) => {
    const { come, watch } = crowd(30, spread);
    come(10_000);
    expect(new Set((await watch(60)).told)).toEqual(new Set([30]));
  });

  it('retry soon again once the crowd is gone', async () => {
    const { come, leave, watch } = crowd(1);
    come(4_000);
    await watch(20);
    leave();
    come(5);
    await watch(MOST_SECONDS + 1);
    expect(new Set((await watch(20)).told)).toEqual(new Set([1]));
  });
});
