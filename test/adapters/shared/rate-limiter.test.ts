import { describe, expect, it } from 'vitest';

import { MemoryRateLimiter, WINDOWS_KEPT } from '../../../src/adapters/shared/rate-limiter.js';
import { rateLimiterContract } from '../../contracts/rate-limiter.js';
import { ManualClock } from '../../support/manual-clock.js';

rateLimiterContract('The rate limiter in memory', async () => {
  const clock = new ManualClock();
  return {
    limiter: new MemoryRateLimiter(clock),
    later: (ms) => clock.advance(ms),
    setClockBy: (ms) => clock.setBy(ms),
  };
});

describe('The rate limiter in memory', () => {
  it('drops the oldest window when there are too many', async () => {
    const limiter = new MemoryRateLimiter(new ManualClock());
    const once = { limit: 1, windowSeconds: 60 };
    for (let n = 0; n < WINDOWS_KEPT; n += 1) await limiter.take(`key-${n}`, once);
    expect(await limiter.take('key-0', once)).toMatchObject({ allowed: false });
    await limiter.take('one more', once);
    expect(await limiter.take('key-1', once)).toMatchObject({ allowed: false });
    expect(await limiter.take('key-0', once)).toMatchObject({ allowed: true });
  });
});
