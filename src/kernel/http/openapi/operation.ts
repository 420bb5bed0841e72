import type { TObject, TSchema } from '@sinclair/typebox';

import { paramNames } from '../guard/path-params.js';
import { jsonTypesOf } from '../guard/read-body.js';
import type { RouteDefinition } from '../route.js';
import { EXT_TAG } from '../tags.js';
import { defined } from '../../base/defined.js';
import { allowingScopes } from '../../base/scopes.js';
import type { Components, Doc } from './components.js';
import { headerParametersOf } from './headers.js';
import { contentSchema } from './responses.js';

const AN_ID: TSchema = { type: 'string' } as unknown as TSchema;

const parametersOf = ({ path, params, query }: RouteDefinition, components: Components): readonly Doc[] => {
  const parameter = (name: string, where: 'path' | 'query', required: boolean, from: TObject | undefined): Doc => {
    const { examples, description, ...schema } = components.response(from?.properties[name] ?? AN_ID);
    const [example] = (examples ?? []) as readonly unknown[];
    return { name, in: where, required, ...defined({ description, example }), schema };
  };
  return [
    ...paramNames(path).map((name) => parameter(name, 'path', true, params)),
    ...Object.keys(query?.properties ?? {}).map((name) =>
      parameter(name, 'query', (query?.required ?? []).includes(name), query),
    ),
  ];
};

const requestBodyOf = (definition: RouteDefinition, components: Components): Doc => {
  const { body, bytes, example } = definition;
  const withExample = example === undefined ? {} : { example };
  if (bytes !== undefined) {
    const content = [bytes].flat().map(({ accepts, schema }) => {
      const isJson = schema !== undefined;
      const described = isJson ? { schema: components.request(schema), ...withExample } : null;
      return [accepts, described ?? { schema: contentSchema(accepts) }] as const;
    });
    return { requestBody: { required: true, content: Object.fromEntries(content) } };
  }
  if (body === undefined) return {};
  const required = ((body as { required?: readonly string[] }).required ?? []).length > 0;
  const described = { schema: components.request(body), ...withExample };
  const content = Object.fromEntries(jsonTypesOf(definition).map((type) => [type, described]));
  return { requestBody: { required, content } };
};

export const tagsOf = ({ tag, ext }: RouteDefinition): readonly string[] => (ext === true ? [tag, EXT_TAG] : [tag]);

/** One route as an operation, without its responses. */
export const operationOf = (definition: RouteDefinition, components: Components): Doc => {
  const { operationId, summary, description, scope, deprecated, admits } = definition;
  const allowing = allowingScopes(definition);
  return {
    operationId,
    tags: tagsOf(definition),
    summary,
    ...defined({ description }),
    ...(deprecated === undefined ? {} : { deprecated: true }),
    security: [...(scope === null ? [] : [{ apiKey: [] }]), ...(admits === undefined ? [] : [{ grant: [] }])],
    ...(allowing.length === 0 ? {} : { 'x-scopes': allowing }),
    parameters: [...parametersOf(definition, components), ...headerParametersOf(definition)],
    ...requestBodyOf(definition, components),
  };
};
