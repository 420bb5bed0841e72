import { beforeEach, describe, expect, it } from 'vitest';

import type { RateLimiter } from '../../src/ports/rate-limiter.js';

export type OpenedRateLimiter = {
  readonly limiter: RateLimiter;
  /** Lets time pass, in milliseconds. */
  readonly later: (ms: number) => Promise<unknown>;
  /** Moves its clock by this many milliseconds. */
  readonly setClockBy: (ms: number) => unknown;
};

const limit = { limit: 3, windowSeconds: 60 };

/** The promises of every rate limiter, whatever its implementation. */
export const rateLimiterContract = (name: string, open: () => Promise<OpenedRateLimiter>): void => {
  describe(`${name} as a rate limiter`, () => {
    let opened: OpenedRateLimiter;
    let limiter: RateLimiter;

    beforeEach(async () => {
      opened = await open();
      ({ limiter } = opened);
    });

    const take = async (times: number, subject = 'key'): Promise<readonly boolean[]> => {
      const allowed = [];
      for (let n = 0; n < times; n += 1) allowed.push((await limiter.take(subject, limit)).allowed);
      return allowed;
    };

    it('allows as many requests as the limit, and returns how many are left', async () => {
      const decisions = [];
      for (let n = 0; n < 4; n += 1) decisions.push(await limiter.take('key', limit));
      expect(decisions).toEqual([
        { allowed: true, remaining: 2, resetSeconds: 60 },
        { allowed: true, remaining: 1, resetSeconds: 60 },
        { allowed: true, remaining: 0, resetSeconds: 60 },
        { allowed: false, remaining: 0, resetSeconds: 60 },
      ]);
    });

    it('begins a window with the first request, and refills it only completely [1.4c]', async () => {
      await opened.later(30_000);
      expect(await take(1)).toEqual([true]);
      await opened.later(59_000);
      expect(await take(3)).toEqual([true, true, false]);
      expect(await limiter.take('key', limit)).toMatchObject({ resetSeconds: 1 });
      await opened.later(1_000);
      expect(await take(4)).toEqual([true, true, true, false]);
    });

    it('counts whole seconds up to the refill, rounded up, so that waiting for them is enough', async () => {
      await take(3);
      await opened.later(100);
      expect(await limiter.take('key', limit)).toMatchObject({ allowed: false, resetSeconds: 60 });
      await opened.later(59_899);
      expect(await limiter.take('key', limit)).toMatchObject({ allowed: false, resetSeconds: 1 });
    });

    it('does not count refused requests, and no refusal delays the refill [1.4c]', async () => {
      await take(20);
      await opened.later(60_000);
      expect(await take(3)).toEqual([true, true, true]);
    });

    it('counts every subject separately', async () => {
      expect(await take(4)).toEqual([true, true, true, false]);
      expect(await take(1, 'other')).toEqual([true]);
    });

    it('uses the limit of the current request', async () => {
      await take(3);
      expect(await limiter.take('key', { limit: 5, windowSeconds: 60 })).toMatchObject({ allowed: true, remaining: 1 });
      expect(await limiter.take('key', { limit: 2, windowSeconds: 60 })).toMatchObject({
        allowed: false,
        remaining: 0,
      });
    });

    it('allows nothing with a limit of 0', async () => {
      expect(await limiter.take('key', { limit: 0, windowSeconds: 60 })).toEqual({
        allowed: false,
        remaining: 0,
        resetSeconds: 60,
      });
    });

    it('blocks no subject when the clock is set back', async () => {
      await take(3);
      await opened.setClockBy(-3_600_000);
      await opened.later(60_000);
      expect(await limiter.take('key', limit)).toMatchObject({ allowed: true });
    });
  });
};
