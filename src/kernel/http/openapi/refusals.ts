import type { RejectionCode } from '../../base/rejection.js';
import { paramNames } from '../guard/path-params.js';
import type { RequestHeader } from '../headers.js';
import { isRepeatable, type RouteDefinition } from '../route.js';
import { takesKey } from './headers.js';

/** Whether a value of this schema has ids that clients choose: then a request with a wrong id and no other problem gets ID_INVALID. */
const hasClientId = (schema: unknown): boolean =>
  typeof schema === 'object' &&
  schema !== null &&
  ((schema as { format?: unknown }).format === 'client-id' || Object.values(schema).some(hasClientId));

/**
 * The codes with which a route can refuse: the codes that its definition implies, and those of its handler (`refuses`). Codes that every route can
 * return (INTERNAL, REQUEST_UNREADABLE), codes for requests that match no route, and those of a `GET` with a body are left out.
 */
export const refusalsOf = (definition: RouteDefinition): readonly RejectionCode[] => {
  const { method, path, query, body, bytes, scope, admits, forbids, enter, bodyLimit, always } = definition;
  const { reads = [], refuses = [] } = definition;
  const hasParams = paramNames(path).length > 0;
  // A body that the route does not need is read all the same.
  const brings = method !== 'GET';
  const parsed: readonly RequestHeader[] = ['Anima-Min-Revision', 'Last-Event-ID', 'If-Match'];
  const parses = reads.some((header) => parsed.includes(header));
  const implied: readonly (readonly [boolean, ...RejectionCode[]])[] = [
    [brings && bytes === undefined, 'MALFORMED_JSON'],
    [body !== undefined || query !== undefined, 'SCHEMA_INVALID'],
    [hasParams || hasClientId(body) || hasClientId(query), 'ID_INVALID'],
    [parses || isRepeatable(definition), 'HEADER_INVALID'],
    [scope !== null || admits !== undefined, 'UNAUTHORIZED'],
    [scope !== null || forbids !== undefined, 'FORBIDDEN'],
    [takesKey(definition), 'IDEMPOTENCY_IN_PROGRESS'],
    [reads.includes('If-Match'), 'PRECONDITION_FAILED'],
    [brings, 'BODY_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'],
    [takesKey(definition), 'IDEMPOTENCY_KEY_REUSED'],
    [scope !== null, 'RATE_LIMITED'],
    [always !== true, 'NOT_READY'],
    [enter !== undefined || bodyLimit !== undefined, 'BUSY'],
  ];
  const found = implied.flatMap(([applies, ...codes]) => (applies ? codes : []));
  return [...new Set([...found, ...refuses])];
};
