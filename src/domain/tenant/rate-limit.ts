import { tiers, type Tier } from './tiers.js';

/** So many requests in a window of so many seconds. */
export type RateLimit = { readonly limit: number; readonly windowSeconds: number };

/**
 * The limit that binds a key: its own, over its tenant's tier, over the server's (contract 1.4). Null is no limit.
 * @param tier null when the tenant has none or tiers are switched off
 */
export const effectiveRateLimit = (
  own: RateLimit | 'off' | null,
  tier: Tier | null,
  server: RateLimit | null,
): RateLimit | null => {
  if (own !== null) return own === 'off' ? null : own;
  return tier === null ? server : tiers[tier].rateLimit;
};
