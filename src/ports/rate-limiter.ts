import type { RateLimit } from '../kernel/base/rate-limit.js';

export type RateDecision = { readonly allowed: boolean; readonly remaining: number; readonly resetSeconds: number };

/** Fixed windows per subject: a window starts with the subject's first request and refills all at one time; refused requests do not count. */
export interface RateLimiter {
  take(subject: string, limit: RateLimit): Promise<RateDecision>;
}
