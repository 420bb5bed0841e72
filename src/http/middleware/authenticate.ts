import { Rejection } from '../../domain/shared/rejection.js';
import { admit, type Gate, requireOneAuthorization } from '../guard/admit.js';
import type { RequestMiddleware } from '../request-state.js';
import type { RouteDefinition } from '../route.js';

/**
 * Finds out who asks: by their key, or by the route's own grant.
 * @param gate null while the ports are not open
 * @throws Rejection UNAUTHORIZED, RATE_LIMITED, FORBIDDEN, NOT_READY, or the route's own
 */
export const authenticate = (definition: RouteDefinition, gate: Gate | null): RequestMiddleware => {
  const { scope, openTo, admits } = definition;
  return async (ctx, next) => {
    requireOneAuthorization(ctx.req);
    if (scope !== null && openTo?.(ctx) !== true) {
      if (gate === null) throw new Rejection('NOT_READY');
      ctx.state.principal = await admit(gate, definition, ctx);
    }
    if (admits !== undefined) ctx.state.granted = await admits(ctx.req.headers.authorization);
    return next();
  };
};
