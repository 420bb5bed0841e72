import { describe, expect, it } from 'vitest';

import { effectiveRateLimit } from '../../../src/kernel/base/rate-limit.js';
import { tiers } from '../../../src/kernel/base/tiers.js';

const server = { limit: 100, windowSeconds: 60 };
const own = { limit: 5, windowSeconds: 1 };

describe('the rate limit of a key', () => {
  it("is its own limit, then its tenant's tier, then the server's default", () => {
    expect(effectiveRateLimit(own, 'free', server)).toEqual(own);
    expect(effectiveRateLimit(null, 'free', server)).toEqual({ limit: 60, windowSeconds: 60 });
    expect(effectiveRateLimit(null, null, server)).toEqual(server);
  });

  it('is absent if the key is set to off, the tier is unlimited, or the server has no limit', () => {
    expect(effectiveRateLimit('off', 'free', server)).toBeNull();
    expect(effectiveRateLimit(null, 'enterprise', server)).toBeNull();
    expect(effectiveRateLimit(null, null, null)).toBeNull();
  });
});

describe('the tiers', () => {
  it('have the documented limits [1.4e]', () => {
    expect(tiers).toEqual({
      free: { rateLimit: { limit: 60, windowSeconds: 60 }, concurrentNpcs: 3 },
      pro: { rateLimit: { limit: 600, windowSeconds: 60 }, concurrentNpcs: 25 },
      enterprise: { rateLimit: null, concurrentNpcs: null },
    });
  });
});
