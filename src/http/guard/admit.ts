import type { IncomingMessage } from 'node:http';

import type { Context } from 'koa';

import { Rejection } from '../../domain/shared/rejection.js';
import type { Principal } from '../../domain/tenant/scopes.js';
import type { RateLimit } from '../../domain/tenant/rate-limit.js';
import type { RateDecision, RateLimiter } from '../../ports/rate-limiter.js';
import type { RouteDefinition } from '../route.js';

/** Finds the source of a request by its `Authorization` header. Null for any missing, malformed, unknown, revoked or expired key. */
export type Authenticate = (header: string | undefined) => Principal | null | Promise<Principal | null>;

export type Gate = {
  readonly authenticate: Authenticate;
  readonly rateLimiter: RateLimiter;
};

/** The source of a request that needs no key. */
export const anonymous: Principal = { tenant: '', keyId: '', scopes: [], rateLimit: null };

/** Node takes the first of two headers, and a proxy before it may have taken the other one. @throws Rejection UNAUTHORIZED */
export const requireOneAuthorization = ({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): void => {
  let found = 0;
  for (let name = 0; name < rawHeaders.length; name += 2)
    if (rawHeaders[name]?.toLowerCase() === 'authorization') found += 1;
  if (found > 1) throw new Rejection('UNAUTHORIZED');
};

const setLimitHeaders = (ctx: Pick<Context, 'set'>, limit: RateLimit, decision: RateDecision): void => {
  const reset = String(Math.max(0, Math.ceil(decision.resetSeconds)));
  ctx.set('RateLimit-Policy', `"default";q=${limit.limit};w=${limit.windowSeconds}`);
  ctx.set('RateLimit', `"default";r=${decision.remaining};t=${reset}`);
};

/**
 * Lets a request with a good key in: 401, 429 and 403, in this order (contract 1.3, 1.4).
 * The state of the rate limit is in the headers of the answer even when the request is refused.
 * @throws Rejection UNAUTHORIZED, RATE_LIMITED, FORBIDDEN, or the route's own
 */
export const admit = async (
  gate: Gate,
  route: RouteDefinition,
  ctx: Pick<Context, 'req' | 'set'>,
): Promise<Principal> => {
  const found = gate.authenticate(ctx.req.headers.authorization);
  const principal = found instanceof Promise ? await found : found;
  if (principal === null) throw new Rejection('UNAUTHORIZED');

  const limit = principal.rateLimit;
  if (limit !== null) {
    const decision = await gate.rateLimiter.take(principal.keyId, limit);
    setLimitHeaders(ctx, limit, decision);
    if (!decision.allowed) {
      const seconds = Math.max(1, Math.ceil(decision.resetSeconds));
      throw new Rejection('RATE_LIMITED', {
        message: `Too many requests for this key; send it again in ${String(seconds)} s.`,
        retryAfter: seconds,
      });
    }
  }

  if (route.scope !== null && !principal.scopes.includes(route.scope)) {
    throw new Rejection('FORBIDDEN', {
      message: `This key does not have the scope "${route.scope}", which the route needs.`,
      details: { scope: route.scope },
    });
  }
  const refusal = route.forbids?.(principal) ?? null;
  if (refusal !== null) throw refusal;
  return principal;
};
