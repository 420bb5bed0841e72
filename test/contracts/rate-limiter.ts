import { beforeEach, describe, expect, it } from 'vitest';

import type { Clock } from '../../src/ports/clock.js';
import type { RateLimiter } from '../../src/ports/rate-limiter.js';
import { ManualClock } from '../support/manual-clock.js';

const limit = { limit: 3, windowSeconds: 60 };

/** What every rate limiter promises, whatever it is built on (contract 1.4). */
export const rateLimiterContract = (name: string, open: (clock: Clock) => RateLimiter): void => {
  describe(`${name} as a rate limiter`, () => {
    let clock: ManualClock;
    let limiter: RateLimiter;

    beforeEach(() => {
      clock = new ManualClock();
      limiter = open(clock);
    });

    const take = async (times: number, subject = 'key'): Promise<readonly boolean[]> => {
      const allowed = [];
      for (let n = 0; n < times; n += 1) allowed.push((await limiter.take(subject, limit)).allowed);
      return allowed;
    };

    it('allows as many requests as the limit says, and says how many are left', async () => {
      const decisions = [];
      for (let n = 0; n < 4; n += 1) decisions.push(await limiter.take('key', limit));
      expect(decisions).toEqual([
        { allowed: true, remaining: 2, resetSeconds: 60 },
        { allowed: true, remaining: 1, resetSeconds: 60 },
        { allowed: true, remaining: 0, resetSeconds: 60 },
        { allowed: false, remaining: 0, resetSeconds: 60 },
      ]);
    });

    it('begins a window with the first request, and refills it only as a whole', async () => {
      await clock.advance(30_000);
      expect(await take(1)).toEqual([true]);
      await clock.advance(59_000);
      expect(await take(3)).toEqual([true, true, false]);
      expect(await limiter.take('key', limit)).toMatchObject({ resetSeconds: 1 });
      await clock.advance(1_000);
      expect(await take(4)).toEqual([true, true, true, false]);
    });

    it('counts whole seconds up to the refill, rounded up, so that waiting them is enough', async () => {
      await take(3);
      await clock.advance(100);
      expect(await limiter.take('key', limit)).toMatchObject({ allowed: false, resetSeconds: 60 });
      await clock.advance(59_899);
      expect(await limiter.take('key', limit)).toMatchObject({ allowed: false, resetSeconds: 1 });
    });

    it('does not count what it refuses, and no refusal delays the refill', async () => {
      await take(20);
      await clock.advance(60_000);
      expect(await take(3)).toEqual([true, true, true]);
    });

    it('counts every subject by itself', async () => {
      expect(await take(4)).toEqual([true, true, true, false]);
      expect(await take(1, 'other')).toEqual([true]);
    });

    it('goes by the limit of the request that asks', async () => {
      await take(3);
      expect(await limiter.take('key', { limit: 5, windowSeconds: 60 })).toMatchObject({ allowed: true, remaining: 1 });
      expect(await limiter.take('key', { limit: 2, windowSeconds: 60 })).toMatchObject({
        allowed: false,
        remaining: 0,
      });
    });

    it('allows nothing under a limit of 0', async () => {
      expect(await limiter.take('key', { limit: 0, windowSeconds: 60 })).toEqual({
        allowed: false,
        remaining: 0,
        resetSeconds: 60,
      });
    });

    it('locks nobody out when the clock is set back', async () => {
      await take(3);
      clock.setBy(-3_600_000);
      await clock.advance(60_000);
      expect(await limiter.take('key', limit)).toMatchObject({ allowed: true });
    });
  });
};
