import { requestHeaders, type ResponseHeader } from '../headers.js';
import { isRepeatable, type RouteDefinition } from '../route.js';
import type { Doc } from './components.js';

/** Headers by reference to the components. */
export const referToHeaders = (names: readonly ResponseHeader[]): Doc => ({
  headers: Object.fromEntries([...names].sort().map((name) => [name, { $ref: `#/components/headers/${name}` }])),
});

const limits: readonly ResponseHeader[] = ['RateLimit', 'RateLimit-Policy'];

/** The headers of every refusal that operations share: what the status requires, and the state of a rate limit. */
export const headersOfRefusals = (names: readonly ResponseHeader[]): Doc =>
  referToHeaders(['X-Request-Id', ...limits, ...names]);

/** Whether a route accepts an Idempotency-Key: every `POST` and `PATCH` of JSON does. */
export const takesKey = (definition: RouteDefinition): boolean =>
  isRepeatable(definition) && definition.bytes === undefined;

/** The headers of a route's own response: what its definition implies, and what its handler adds (`sends`). */
export const headersOf = (definition: RouteDefinition, status: number): Doc => {
  const { scope, query, body, deprecated, responses, retention, sends = [] } = definition;
  const isSuccess = status < 400;
  const isPaged = query?.properties['cursor'] !== undefined;
  const implied: readonly (readonly [boolean, ...ResponseHeader[]])[] = [
    [true, 'X-Request-Id'],
    [scope !== null, ...limits],
    [isSuccess, ...sends],
    [isSuccess && takesKey(definition) && retention !== 'never', 'Idempotency-Replayed'],
    [isSuccess && isPaged, 'Link'],
    [isSuccess && body !== undefined, 'Anima-Warning'],
    [isSuccess && responses[304] !== undefined, 'ETag'],
    [status === 202 || status === 302, 'Location'],
    [status === 503, 'Retry-After'],
    [deprecated !== undefined, 'Deprecation', 'Link'],
  ];
  return referToHeaders([...new Set(implied.flatMap(([applies, ...names]) => (applies ? names : [])))]);
};

const parameter = (name: string, described: Doc): Doc => ({ name, in: 'header', required: false, ...described });

const ifNoneMatch = parameter('If-None-Match', {
  description: 'The `ETag` of what you have. The answer is 304 while it is the same.',
  schema: { type: 'string' },
});

const idempotencyKey = parameter('Idempotency-Key', {
  description:
    'Makes the request safe to repeat for 24 hours: it is carried out once, and repeats get the same answer.',
  schema: { type: 'string', minLength: 1, maxLength: 128 },
});

/** The headers that a route reads, as parameters. */
export const headerParametersOf = (definition: RouteDefinition): readonly Doc[] => [
  ...(definition.reads ?? []).map((name) => parameter(name, requestHeaders[name])),
  ...(definition.responses[304] === undefined ? [] : [ifNoneMatch]),
  ...(takesKey(definition) ? [idempotencyKey] : []),
];
