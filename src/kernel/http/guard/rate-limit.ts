import type { Context } from 'koa';

import { Rejection } from '../../base/rejection.js';
import type { RateLimit } from '../../base/rate-limit.js';
import type { RateDecision, RateLimiter } from '../../../ports/rate-limiter.js';

const setLimitHeaders = (ctx: Pick<Context, 'set'>, limit: RateLimit, decision: RateDecision): void => {
  const reset = String(Math.max(0, Math.ceil(decision.resetSeconds)));
  ctx.set('RateLimit-Policy', `"default";q=${limit.limit};w=${limit.windowSeconds}`);
  ctx.set('RateLimit', `"default";r=${decision.remaining};t=${reset}`);
};

/**
 * Counts a request against the limit of its key. The response headers show the state of the limit, even if the request is refused.
 * @throws Rejection RATE_LIMITED
 */
export const requireRate = async (
  rateLimiter: RateLimiter,
  keyId: string,
  limit: RateLimit,
  ctx: Pick<Context, 'set'>,
): Promise<void> => {
  const decision = await rateLimiter.take(keyId, limit);
  setLimitHeaders(ctx, limit, decision);
  if (decision.allowed) return;
  const seconds = Math.max(1, Math.ceil(decision.resetSeconds));
  throw new Rejection('RATE_LIMITED', {
    message: `This API key has sent too many requests. Try again in ${String(seconds)} s.`,
    retryAfter: seconds,
  });
};
