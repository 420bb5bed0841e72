import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

import { isClientId } from '../../src/kernel/base/client-id.js';
import { openApi } from '../../src/kernel/http/openapi/document.js';
import type { RouteDefinition } from '../../src/kernel/http/route.js';
import { MAX_BYTES } from '../../src/kernel/http/schemas.js';

export type Schema = Readonly<Record<string, unknown>> & { readonly $ref?: string };
export type Content = Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;
export type Parameter = {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema: Schema;
  readonly example?: unknown;
};
export type Response = {
  readonly $ref?: string;
  readonly description?: string;
  readonly headers?: Readonly<Record<string, Schema>>;
  readonly content?: Content;
};
export type Operation = {
  readonly operationId: string;
  readonly deprecated?: boolean;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, Response>>;
};
export type Document = {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Response>>;
    readonly headers: Readonly<Record<string, object>>;
  };
};

/** The document as it is served. */
export const documentOf = (routes: readonly RouteDefinition[]): Document =>
  JSON.parse(JSON.stringify(openApi(routes))) as Document;

export type PlacedOperation = Operation & { readonly method: string; readonly path: string };
export const operationsOf = ({ paths }: Document): readonly PlacedOperation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  );

/** Compiles schemas of a document, with their references; each schema must be one of JSON Schema 2020-12. */
export const validatorOf = (document: Document): ((schema: Schema) => ValidateFunction) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true, logger: false });
  ajv.addFormat('client-id', isClientId);
  for (const format of ['date-time', 'uuid', 'binary']) ajv.addFormat(format, true);
  ajv.addKeyword({ keyword: MAX_BYTES, schema: true });
  ajv.addSchema({ $id: 'document', components: document.components });
  const within = (schema: Schema): Schema =>
    JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#', '"$ref":"document#')) as Schema;
  return (schema) => ajv.compile(within(schema));
};

const membersOf = (document: Document, { $ref, ...schema }: Schema): Readonly<Record<string, Schema>> | null => {
  if ($ref !== undefined) return membersOf(document, schemaAt(document, $ref));
  const { properties, allOf, additionalProperties } = schema as {
    properties?: Readonly<Record<string, Schema>>;
    allOf?: readonly Schema[];
    additionalProperties?: unknown;
  };
  if (additionalProperties !== undefined || (properties === undefined && allOf === undefined)) return null;
  return Object.assign({}, properties, ...(allOf ?? []).map((part) => membersOf(document, part))) as Record<
    string,
    Schema
  >;
};

/** The schema that a reference names. */
export const schemaAt = ({ components }: Document, $ref: string): Schema =>
  components.schemas[$ref.split('/').at(-1) ?? ''] ?? {};

/** The members of a valid value that its schema does not list although it lists members, as JSON Pointers. */
export const undocumentedIn = (
  document: Document,
  compile: ReturnType<typeof validatorOf>,
  schema: Schema,
  value: unknown,
  pointer = '',
): readonly string[] => {
  if (schema.$ref !== undefined)
    return undocumentedIn(document, compile, schemaAt(document, schema.$ref), value, pointer);
  const { anyOf, oneOf = anyOf, items } = schema as { anyOf?: Schema[]; oneOf?: Schema[]; items?: Schema };
  const inside = (within: Schema, inner: unknown, name: string | number): readonly string[] =>
    undocumentedIn(document, compile, within, inner, `${pointer}/${String(name)}`);
  if (oneOf !== undefined) {
    const fitting = oneOf.find((one) => compile(one)(value));
    return fitting === undefined ? [pointer] : undocumentedIn(document, compile, fitting, value, pointer);
  }
  if (Array.isArray(value)) return items === undefined ? [] : value.flatMap((item, at) => inside(items, item, at));
  if (typeof value !== 'object' || value === null) return [];
  const members = membersOf(document, schema);
  return Object.entries(value).flatMap(([name, inner]) => {
    const within = members?.[name];
    if (within !== undefined) return inside(within, inner, name);
    return members === null ? [] : [`${pointer}/${name}`];
  });
};

/** Headers of HTTP itself, of caches and of browsers, which the document leaves out. */
const UNDOCUMENTED = [
  ...['allow', 'cache-control', 'connection', 'content-length', 'content-security-policy', 'content-type', 'date'],
  ...['keep-alive', 'transfer-encoding', 'vary', 'x-accel-buffering', 'x-content-type-options'],
];

/** The headers of an answer that the document does not list for its status. */
export const undocumentedHeaders = (
  { components }: Document,
  { responses }: Operation,
  status: string,
  names: Iterable<string>,
): readonly string[] => {
  const given = responses[status] ?? responses['default'] ?? {};
  const { headers = {} } =
    given.$ref === undefined ? given : (components.responses[given.$ref.split('/').at(-1) ?? ''] ?? {});
  const listed = new Set([...UNDOCUMENTED, ...Object.keys(headers).map((name) => name.toLowerCase())]);
  return [...names].filter((name) => !listed.has(name.toLowerCase()));
};
