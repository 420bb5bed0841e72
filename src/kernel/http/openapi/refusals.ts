import type { RejectionCode } from '../../base/rejection.js';
import { paramNames } from '../guard/path-params.js';
import type { RouteDefinition } from '../route.js';

/** Whether a route accepts an Idempotency-Key. */
export const takesKey = ({ method, scope, bytes }: RouteDefinition): boolean =>
  method === 'POST' && scope !== null && bytes === undefined;

/**
 * The codes with which a route can refuse: the codes that its definition implies, and those of its handler (`refuses`). Codes that every route can
 * return (INTERNAL, REQUEST_UNREADABLE), and codes for requests that match no route, are left out.
 */
export const refusalsOf = (definition: RouteDefinition): readonly RejectionCode[] => {
  const { path, query, body, bytes, scope, admits, forbids, enter, bodyLimit, always, refuses = [] } = definition;
  const hasParams = paramNames(path).length > 0;
  const bringsJson = body !== undefined;
  const brings = bringsJson || bytes !== undefined;
  const implied: readonly (readonly [boolean, ...RejectionCode[]])[] = [
    [bringsJson, 'MALFORMED_JSON'],
    [bringsJson || query !== undefined, 'SCHEMA_INVALID'],
    [hasParams, 'ID_INVALID'],
    [takesKey(definition), 'HEADER_INVALID'],
    [scope !== null || admits !== undefined, 'UNAUTHORIZED'],
    [scope !== null || forbids !== undefined, 'FORBIDDEN'],
    [takesKey(definition), 'IDEMPOTENCY_IN_PROGRESS'],
    [brings, 'BODY_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'],
    [takesKey(definition), 'IDEMPOTENCY_KEY_REUSED'],
    [scope !== null, 'RATE_LIMITED'],
    [always !== true, 'NOT_READY'],
    [enter !== undefined || bodyLimit !== undefined, 'BUSY'],
  ];
  const found = implied.flatMap(([applies, ...codes]) => (applies ? codes : []));
  return [...new Set([...found, ...refuses])];
};
