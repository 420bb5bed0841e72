import type { RejectionCode } from '../../base/rejection.js';
import type { RouteDefinition } from '../route.js';
import type { Components, Doc } from './components.js';
import { ErrorBody, exampleOf, ShortError, statusOfCode } from './error-schemas.js';
import { type ResponseHeader, responseHeaders } from '../headers.js';
import { headersOf, headersOfRefusals } from './headers.js';
import { refusalsOf } from './refusals.js';

type Shared = {
  readonly name: string;
  readonly description: string;
  readonly code: RejectionCode;
  readonly details?: object;
  readonly headers?: readonly ResponseHeader[];
};

const issues = [{ in: 'body', pointer: '/npcId', message: 'must be a string' }];

/** The refusals to which operations refer, by status. */
const shared: Readonly<Record<number, Shared>> = {
  400: {
    name: 'BadRequest',
    description: 'The request cannot be read or does not match its schema.',
    code: 'SCHEMA_INVALID',
    details: { issues },
    headers: ['Idempotency-Replayed'],
  },
  401: {
    name: 'Unauthorized',
    description: 'The credentials are missing or invalid.',
    code: 'UNAUTHORIZED',
    headers: ['WWW-Authenticate'],
  },
  403: {
    name: 'Forbidden',
    description: 'The key may not do this.',
    code: 'FORBIDDEN',
    details: { scope: 'npc' },
    headers: ['Idempotency-Replayed'],
  },
  404: {
    name: 'NotFound',
    description: 'Something that the request names does not exist.',
    code: 'NPC_NOT_FOUND',
    details: { npcId: 'mira' },
    headers: ['Idempotency-Replayed'],
  },
  409: {
    name: 'Conflict',
    description: 'The request conflicts with the current state.',
    code: 'CONFLICT',
    headers: ['Idempotency-Replayed', 'Retry-After'],
  },
  410: {
    name: 'Gone',
    description: 'The exchange has expired; start again.',
    code: 'SOUL_EXCHANGE_EXPIRED',
    headers: ['Idempotency-Replayed'],
  },
  412: {
    name: 'PreconditionFailed',
    description: 'The request expects another version than the current one.',
    code: 'PRECONDITION_FAILED',
    details: { etag: '"16"' },
  },
  413: {
    name: 'ContentTooLarge',
    description: 'The body is too large, or would record too much.',
    code: 'BODY_TOO_LARGE',
    details: { limitBytes: 1_048_576 },
    headers: ['Idempotency-Replayed'],
  },
  415: {
    name: 'UnsupportedMediaType',
    description: 'The body has an unsupported media type, or is compressed.',
    code: 'UNSUPPORTED_MEDIA_TYPE',
  },
  422: {
    name: 'Unprocessable',
    description: 'The request is well formed but cannot be carried out.',
    code: 'IDEMPOTENCY_KEY_REUSED',
    headers: ['Anima-Revision', 'Idempotency-Replayed'],
  },
  429: {
    name: 'TooManyRequests',
    description: 'Wait for `Retry-After` seconds, then send the same request again.',
    code: 'RATE_LIMITED',
    headers: ['Retry-After'],
  },
  503: {
    name: 'Unavailable',
    description: 'The server, or something that it needs, is not available. Retry after `Retry-After` seconds.',
    code: 'NOT_READY',
    headers: ['Retry-After'],
  },
};

const DEFAULT = 'UnexpectedError';

const json = (schema: Doc, example: object): Doc => ({ 'application/json': { schema, example } });

/** The responses that all operations share; their schemas are added to the components. */
export const sharedResponses = (components: Components): { readonly responses: Doc; readonly headers: Doc } => {
  const error = components.response(ErrorBody);
  const responses = Object.values(shared).map(({ name, description, code, details, headers = [] }) => [
    name,
    {
      description,
      ...headersOfRefusals(headers),
      content: json(error, exampleOf(code, details)),
    },
  ]);
  return {
    headers: responseHeaders,
    responses: Object.fromEntries([
      ...responses,
      [
        'ShortForbidden',
        {
          description: 'The key may not do this, or the server does not accept new rules.',
          ...headersOfRefusals(['Idempotency-Replayed']),
          content: json(components.response(ShortError), { error: 'This server does not accept new rules.' }),
        },
      ],
      [
        DEFAULT,
        {
          description: 'Any other error. It has the same form as every error.',
          ...headersOfRefusals([]),
          content: json(error, exampleOf('INTERNAL')),
        },
      ],
    ]) as Doc,
  };
};

const reference = (name: string, codes: readonly RejectionCode[] = []): Doc => ({
  $ref: `#/components/responses/${name}`,
  ...(codes.length === 0 ? {} : { description: codes.map((code) => `\`${code}\``).join(', ') }),
});

/** A response other than JSON: a text, or bytes. */
export const contentSchema = (type: string): Doc =>
  type.startsWith('text/') ? { type: 'string' } : { type: 'string', format: 'binary' };

const ownResponses = (definition: RouteDefinition, components: Components): readonly (readonly [string, Doc])[] =>
  Object.entries(definition.responses).map(
    ([status, { description, schema, example, contentType, orType, onDemand }]) => {
      const type = contentType ?? 'application/json';
      const body = {
        schema: schema === undefined ? contentSchema(type) : components.response(schema),
        ...(example === undefined ? {} : { example }),
      };
      const content = {
        ...(schema === undefined && contentType === undefined ? {} : { [type]: body }),
        ...Object.fromEntries([orType ?? []].flat().map((other) => [other, { schema: contentSchema(other) }])),
        ...(onDemand === undefined ? {} : { [onDemand]: { schema: contentSchema(onDemand) } }),
      };
      const headers = headersOf(definition, Number(status));
      return [status, { description, ...headers, ...(Object.keys(content).length === 0 ? {} : { content }) }];
    },
  );

/** All responses of a route: its own, its refusals by status, and a default for the rest. */
export const responsesOf = (definition: RouteDefinition, components: Components): Doc => {
  const codesOfRoute = refusalsOf(definition);
  const refusals = [...new Set(codesOfRoute.map(statusOfCode))].map((status) => {
    const codes = codesOfRoute.filter((code) => statusOfCode(code) === status);
    const name = status === 403 && definition.shortForbidden === true ? 'ShortForbidden' : shared[status]?.name;
    // The dependencies that can be unavailable differ between deployments.
    return [String(status), reference(name ?? DEFAULT, status === 503 ? [] : codes)] as const;
  });
  return Object.fromEntries([...refusals, ...ownResponses(definition, components), ['default', reference(DEFAULT)]]);
};
