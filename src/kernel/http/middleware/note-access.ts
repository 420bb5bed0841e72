import type { Principal } from '../../base/scopes.js';
import { compilePathParams } from '../guard/path-params.js';
import type { RequestMiddleware } from '../request-state.js';
import type { RouteDefinition } from '../route.js';

/** Told of each request that was let in to a route whose uses are recorded. `npcId`: the mind that its path names. */
export type OnAccess = (principal: Principal, operation: string, npcId: string | null) => void;

/**
 * Tells of a request as soon as it is let in, whatever becomes of it: its body and its query are checked later, and reading a part of a history counts
 * too. A path with an invalid id names no mind.
 */
export const noteAccess = (
  { operationId, path, params }: Pick<RouteDefinition, 'operationId' | 'path' | 'params'>,
  onAccess: OnAccess,
): RequestMiddleware => {
  const readParams = compilePathParams(path, params);
  const mindIn = (captures: readonly string[]): string | null => {
    try {
      const { npcId, agentId } = readParams(captures);
      return npcId ?? agentId ?? null;
    } catch {
      return null;
    }
  };
  return (ctx, next) => {
    onAccess(ctx.state.principal, operationId, mindIn((ctx['captures'] as readonly string[] | undefined) ?? []));
    return next();
  };
};
