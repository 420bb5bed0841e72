import { tiers, type Tier } from './tiers.js';

/** The number of requests per window, and the length of the window in seconds. */
export type RateLimit = { readonly limit: number; readonly windowSeconds: number };

/**
 * The limit of a key: its own, otherwise that of its tenant's tier, otherwise the server's. Null means no limit.
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
