import { Rejection } from '../../base/rejection.js';
import type { Lifecycle } from '../lifecycle.js';
import type { RequestMiddleware } from '../request-state.js';
import type { RouteDefinition } from '../route.js';

/** The headers of every response of a deprecated route (RFC 9745). */
const deprecationOf = ({ deprecated, operationId }: RouteDefinition): Readonly<Record<string, string>> | null =>
  deprecated === undefined
    ? null
    : {
        Deprecation: `@${String(Date.parse(deprecated) / 1000)}`,
        Link: `</docs#${operationId}>; rel="deprecation"`,
      };

/** Names the operation of a request. @throws Rejection NOT_READY */
export const beginRoute = (definition: RouteDefinition, lifecycle: Lifecycle): RequestMiddleware => {
  const { operationId, always } = definition;
  const deprecation = deprecationOf(definition);
  return (ctx, next) => {
    ctx.state.operationId = operationId;
    if (deprecation !== null) ctx.set(deprecation);
    if (always !== true && lifecycle.phase !== 'ready') throw new Rejection('NOT_READY');
    return next();
  };
};
