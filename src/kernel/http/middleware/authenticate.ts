import { Rejection } from '../../base/rejection.js';
import { type Gate, requireAllowed, requireOneAuthorization } from '../guard/admit.js';
import { compilePathParams } from '../guard/path-params.js';
import { requireRate } from '../guard/rate-limit.js';
import type { RequestMiddleware } from '../request-state.js';
import type { RouteDefinition } from '../route.js';

/**
 * Identifies the caller by its key or by the route's own grant: 401, 429 and 403, in this order.
 * @param gate null while the ports are not open
 * @throws Rejection UNAUTHORIZED, RATE_LIMITED, FORBIDDEN, NOT_READY, or the route's own
 */
export const authenticate = (definition: RouteDefinition, gate: Gate | null): RequestMiddleware => {
  const { scope, openTo, admits, path, params, speaksTo } = definition;
  const readParams = compilePathParams(path, params);
  return async (ctx, next) => {
    const { req, state } = ctx;
    requireOneAuthorization(req);
    if (scope !== null && openTo?.(ctx) !== true) {
      if (gate === null) throw new Rejection('NOT_READY');
      const found = gate.authenticate(req.headers.authorization);
      const principal = found instanceof Promise ? await found : found;
      if (principal === null) throw new Rejection('UNAUTHORIZED');
      state.principal = principal;
      const { rateLimit } = principal;
      if (rateLimit !== null) await requireRate(gate.rateLimiter, principal, rateLimit, ctx);
      requireAllowed(definition, principal, () =>
        speaksTo === undefined
          ? null
          : (readParams((ctx['captures'] as readonly string[] | undefined) ?? [])[speaksTo] ?? null),
      );
    }
    if (admits !== undefined) state.granted = await admits(req.headers.authorization);
    return next();
  };
};
