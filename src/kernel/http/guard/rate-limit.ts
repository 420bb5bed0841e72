import type { Context } from 'koa';

import { Rejection } from '../../base/rejection.js';
import type { Principal } from '../../base/scopes.js';
import { shortDigest } from '../../crypto/sha256.js';
import type { RateLimit } from '../../base/rate-limit.js';
import type { RateDecision, RateLimiter } from '../../../ports/rate-limiter.js';

const setLimitHeaders = (ctx: Pick<Context, 'set'>, limit: RateLimit, decision: RateDecision): void => {
  const reset = String(Math.max(0, Math.ceil(decision.resetSeconds)));
  ctx.set('RateLimit-Policy', `"default";q=${limit.limit};w=${limit.windowSeconds}`);
  ctx.set('RateLimit', `"default";r=${decision.remaining};t=${reset}`);
};

/** A player counts alone, whichever tokens they use. No key's id has a space. */
const subjectOf = ({ tenant, keyId, player }: Principal): string =>
  player === undefined ? keyId : `player ${tenant} ${shortDigest(player.id)}`;

/**
 * Counts a request against the limit of its key or its player. The response headers show the state of the limit, even if the request is refused.
 * @throws Rejection RATE_LIMITED
 */
export const requireRate = async (
  rateLimiter: RateLimiter,
  principal: Principal,
  limit: RateLimit,
  ctx: Pick<Context, 'set'>,
): Promise<void> => {
  const decision = await rateLimiter.take(subjectOf(principal), limit);
  setLimitHeaders(ctx, limit, decision);
  if (decision.allowed) return;
  const seconds = Math.max(1, Math.ceil(decision.resetSeconds));
  throw new Rejection('RATE_LIMITED', {
    message: `This ${principal.player === undefined ? 'API key' : 'player'} has sent too many requests. Try again in ${String(seconds)} s.`,
    retryAfter: seconds,
  });
};
