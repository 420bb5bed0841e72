import type { IncomingMessage } from 'node:http';

import { defined } from '../../base/defined.js';
import { Rejection } from '../../base/rejection.js';
import { type AdmittedPlayer, allowingScopes, type Principal } from '../../base/scopes.js';
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

/**
 * A player may call only what speaks to NPCs, and only for those whom the token names.
 * @param npcId the NPC in the path; null if the route does not speak to one
 */
const requireAdmitted = ({ npcs }: AdmittedPlayer, npcId: string | null): void => {
  if (npcId === null)
    throw new Rejection('FORBIDDEN', {
      message: 'A player token only allows POST /v1/agents/{agentId}/process, for the NPCs that it names.',
    });
  if (!npcs.includes(npcId))
    throw new Rejection('FORBIDDEN', { message: 'This player token does not name this NPC.', details: { npcId } });
};

/**
 * @param npcId as for `requireAdmitted`; called only if a player asks
 * @throws Rejection FORBIDDEN, or the route's own
 */
export const requireAllowed = (
  { method, scope, orScope, forbids }: Pick<RouteDefinition, 'method' | 'scope' | 'orScope' | 'forbids'>,
  principal: Principal,
  npcId: () => string | null = () => null,
): void => {
  if (principal.player !== undefined) {
    requireAdmitted(principal.player, npcId());
    return;
  }
  if (
    scope !== null &&
    !allowingScopes({ method, scope, ...defined({ orScope }) }).some((one) => principal.scopes.includes(one))
  ) {
    throw new Rejection('FORBIDDEN', {
      message: `This API key does not have the scope "${scope}", which the route requires.`,
      details: { scope },
    });
  }
  const refusal = forbids?.(principal) ?? null;
  if (refusal !== null) throw refusal;
};
