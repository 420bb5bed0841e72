import type { Principal } from '../../base/scopes.js';
import type { RequestMiddleware } from '../request-state.js';
import type { RouteDefinition } from '../route.js';

/** Told of each request that was let in to a route whose uses are recorded. `npcId`: the mind that its path names. */
export type OnAccess = (principal: Principal, operation: string, npcId: string | null) => void;

/** Tells of a request before it is carried out: reading a part of a history counts too. */
export const noteAccess =
  ({ operationId }: Pick<RouteDefinition, 'operationId'>, onAccess: OnAccess): RequestMiddleware =>
  ({ state }, next) => {
    const { npcId = state.params['agentId'] ?? null } = state.params;
    onAccess(state.principal, operationId, npcId);
    return next();
  };
