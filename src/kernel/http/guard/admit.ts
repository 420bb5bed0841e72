import type { IncomingMessage } from 'node:http';

import { Rejection } from '../../base/rejection.js';
import type { Principal } from '../../base/scopes.js';
import type { RateLimiter } from '../../../ports/rate-limiter.js';
import type { RouteDefinition } from '../route.js';

/** Finds the source of a request by its `Authorization` header. Null for any missing, malformed, unknown, revoked or expired key. */
export type Authenticate = (header: string | undefined) => Principal | null | Promise<Principal | null>;

export type Gate = {
  readonly authenticate: Authenticate;
  readonly rateLimiter: RateLimiter;
};

/** The principal of a request that does not need a key. */
export const anonymous: Principal = { tenant: '', keyId: '', scopes: [], rateLimit: null };

const AUTHORIZATION = 'authorization';

/** Node uses the first of two headers, and a proxy in front of it may have used the other one. @throws Rejection UNAUTHORIZED */
export const requireOneAuthorization = ({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): void => {
  let found = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === AUTHORIZATION.length && name.toLowerCase() === AUTHORIZATION) found += 1;
  }
  if (found > 1) throw new Rejection('UNAUTHORIZED');
};

/** @throws Rejection FORBIDDEN, or the route's own */
export const requireAllowed = (
  { scope, forbids }: Pick<RouteDefinition, 'scope' | 'forbids'>,
  principal: Principal,
): void => {
  if (scope !== null && !principal.scopes.includes(scope)) {
    throw new Rejection('FORBIDDEN', {
      message: `This API key does not have the scope "${scope}", which the route requires.`,
      details: { scope },
    });
  }
  const refusal = forbids?.(principal) ?? null;
  if (refusal !== null) throw refusal;
};
