import type { TObject, TSchema } from '@sinclair/typebox';

import { apiVersion } from './api-version.js';
import { withNullMembers } from './guard/null-members.js';
import { paramNames } from './guard/path-params.js';
import type { RouteDefinition } from './route.js';
import { ErrorBody, ShortError } from './schemas.js';
import { EXT_TAG, routeTags } from './tags.js';
import { defined } from '../base/defined.js';

type Doc = Record<string, unknown>;

/** JSON Schema of a TypeBox schema: the symbols it carries for TypeScript do not survive JSON. */
const plain = (schema: TSchema): Doc => {
  const { $id: _id, ...rest } = JSON.parse(JSON.stringify(schema)) as Doc;
  return rest;
};

const parameter = (name: string, where: 'path' | 'query', schema: TSchema | undefined, required: boolean): Doc => ({
  name,
  in: where,
  required,
  schema: schema === undefined ? { type: 'string' } : plain(schema),
});

const parametersOf = ({ path, params, query }: RouteDefinition): readonly Doc[] => {
  const properties = (schema: TObject | undefined): Readonly<Record<string, TSchema>> => schema?.properties ?? {};
  return [
    ...paramNames(path).map((name) => parameter(name, 'path', properties(params)[name], true)),
    ...Object.entries(properties(query)).map(([name, schema]) =>
      parameter(name, 'query', schema, (query?.required ?? []).includes(name)),
    ),
  ];
};

/** The header that every `POST` with a JSON body accepts. */
const idempotencyKey: Doc = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Makes the request safe to repeat for 24 hours.',
  schema: { type: 'string', minLength: 1, maxLength: 128 },
};

const reference = (name: string): Doc => ({ $ref: `#/components/schemas/${name}` });

/** What is not JSON: a text, or bytes. */
const contentSchema = (type: string): Doc => {
  if (type === 'application/json') return {};
  return type.startsWith('text/') ? { type: 'string' } : { type: 'string', format: 'binary' };
};

const requestBodyOf = ({ body, bytes }: RouteDefinition): Doc => {
  if (bytes !== undefined) {
    const content = [bytes].flat().map(({ accepts }) => [accepts, { schema: contentSchema(accepts) }] as const);
    return { requestBody: { required: true, content: Object.fromEntries(content) } };
  }
  if (body === undefined) return {};
  const required = ((body as { required?: readonly string[] }).required ?? []).length > 0;
  return { requestBody: { required, content: { 'application/json': { schema: plain(withNullMembers(body)) } } } };
};

const responsesOf = ({ responses, shortForbidden }: RouteDefinition): Doc => {
  const own = Object.entries(responses).map(([status, { description, schema, contentType, orType, onDemand }]) => {
    const type = contentType ?? 'application/json';
    const content = {
      ...(schema === undefined && contentType === undefined
        ? {}
        : { [type]: { schema: schema === undefined ? contentSchema(type) : plain(schema) } }),
      ...(orType === undefined ? {} : { [orType]: { schema: contentSchema(orType) } }),
      ...(onDemand === undefined ? {} : { [onDemand]: { schema: contentSchema(onDemand) } }),
    };
    return [status, { description, ...(Object.keys(content).length === 0 ? {} : { content }) }];
  });
  const refusal = {
    description: 'A refusal; the code says which.',
    content: { 'application/json': { schema: reference('Error') } },
  };
  const short = { description: 'A refusal.', content: { 'application/json': { schema: reference('ShortError') } } };
  return Object.fromEntries([
    ...own,
    ...(shortForbidden === true ? [['403', short]] : []),
    ['default', refusal],
  ]) as Doc;
};

const tagsOf = ({ tag, ext }: RouteDefinition): readonly string[] => (ext === true ? [tag, EXT_TAG] : [tag]);

const operationOf = (definition: RouteDefinition): Doc => {
  const { operationId, summary, description, scope, bytes, deprecated, method, admits } = definition;
  const takesKey = method === 'POST' && scope !== null && bytes === undefined;
  return {
    operationId,
    tags: tagsOf(definition),
    summary,
    ...defined({ description }),
    ...(deprecated === undefined ? {} : { deprecated: true }),
    security: [...(scope === null ? [] : [{ apiKey: [] }]), ...(admits === undefined ? [] : [{ grant: [] }])],
    ...(scope === null ? {} : { 'x-scope': scope }),
    parameters: [...parametersOf(definition), ...(takesKey ? [idempotencyKey] : [])],
    ...requestBodyOf(definition),
    responses: responsesOf(definition),
  };
};

/** A path as OpenAPI writes it: `/npcs/{npcId}`. */
export const templatePath = (path: string): string => path.replace(/:(\w+)/g, '{$1}');

/** The authorisation of the one route that accepts a grant instead of a key. */
const grant: Doc = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'JWT',
  description: 'The `auiAuthHeader` of an export: leave to upload its payload.',
};

const description = `The mind of game NPCs, as a service.

Send \`Authorization: Bearer <key>\` and JSON. Routes tagged \`(ext)\` are additions of this server.`;

/** Walks the definitions to an OpenAPI 3.1 document. */
export const openApi = (routes: readonly RouteDefinition[]): Doc => {
  const paths: Record<string, Doc> = {};
  const used = new Set(routes.flatMap(tagsOf));
  for (const definition of routes) {
    const path = templatePath(definition.path);
    paths[path] = { ...paths[path], [definition.method.toLowerCase()]: operationOf(definition) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Anima',
      version: apiVersion,
      description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: Array.from(routeTags, ([name, described]) => ({ name, description: described })).filter(({ name }) =>
      used.has(name),
    ),
    paths,
    components: {
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' }, grant },
      schemas: { Error: plain(ErrorBody), ShortError: plain(ShortError) },
    },
  };
};
