import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { rejections } from '../../src/kernel/http/rejections.js';
import { EXCHANGES } from '../exchanges/play.js';
import { servedRoutes } from '../../scripts/served-routes.js';
import {
  type Content,
  documentOf,
  operationsOf,
  type PlacedOperation,
  type Schema,
  validatorOf,
} from '../support/openapi.js';

const document = documentOf(servedRoutes());
const operations = operationsOf(document);
const compile = validatorOf(document);
const { schemas, responses } = document.components;

type Body = Content[string] & { readonly where: string };
const jsonOf = (where: string, content: Content | undefined): readonly Body[] =>
  Object.entries(content ?? {}).flatMap(([type, one]) => (type === 'application/json' ? [{ ...one, where }] : []));
const requestsOf = ({ operationId, requestBody }: PlacedOperation): readonly Body[] =>
  jsonOf(`${operationId} request`, requestBody?.content);
const responsesOf = ({ operationId, responses: own }: PlacedOperation): readonly Body[] =>
  Object.entries(own).flatMap(([status, { content }]) => jsonOf(`${operationId} ${status}`, content));

const requests = operations.flatMap(requestsOf);
const answers = operations.flatMap(responsesOf);
const shared = Object.entries(responses).flatMap(([name, { content }]) => jsonOf(name, content));
const bodies = [...requests, ...answers, ...shared];

/** Every value of this key, at any depth. */
const valuesOf = (key: string, value: unknown): readonly unknown[] => {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    ...(name === key ? [inner as unknown] : []),
    ...(key !== 'example' || name !== 'example' ? valuesOf(key, inner) : []),
  ]);
};

describe('the document of all routes', () => {
  it('names the schema of every JSON body', () => {
    expect(requests.length).toBeGreaterThan(30);
    expect(answers.length).toBeGreaterThan(80);
    const inline = bodies.filter(({ schema }) => !/^#\/components\/schemas\/\w+$/.test(schema.$ref ?? ''));
    expect(inline.map(({ where }) => where)).toEqual([]);
  });

  it('has names in PascalCase, and no dangling references', () => {
    for (const name of Object.keys(schemas)) expect(name).toMatch(/^([A-Z][a-z]+)+$/);
    const referred = valuesOf('$ref', document) as readonly string[];
    expect(referred.length).toBeGreaterThan(500);
    const missing = referred.filter((reference) => {
      const [, ...path] = reference.split('/');
      return (
        path.reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], document) === undefined
      );
    });
    expect([...new Set(missing)]).toEqual([]);
  });

  it('has only schemas of JSON Schema 2020-12', () => {
    for (const name of Object.keys(schemas))
      expect(() => compile({ $ref: `#/components/schemas/${name}` }), name).not.toThrow();
    for (const { parameters } of operations)
      for (const { schema } of parameters) expect(() => compile(schema)).not.toThrow();
  });

  it('names each schema of a discriminator, and lists it', () => {
    const unions = Object.entries(schemas).filter(([, schema]) => schema['discriminator'] !== undefined);
    expect(unions.map(([name]) => name)).toEqual(['ErrorInfo', 'Instruction', 'RecordedResult', 'Result']);
    for (const [name, schema] of unions) {
      const { propertyName, mapping } = schema['discriminator'] as {
        propertyName: string;
        mapping: Record<string, string>;
      };
      const listed = (schema['oneOf'] as readonly Schema[]).map(({ $ref }) => $ref);
      expect(new Set(Object.values(mapping)), name).toEqual(new Set(listed));
      for (const [value, reference] of Object.entries(mapping)) {
        const one = schemas[reference.split('/').at(-1) ?? '']?.['properties'] as Record<string, Schema> | undefined;
        const { const: only, enum: several = [only] } = one?.[propertyName] as {
          const?: string;
          enum?: readonly string[];
        };
        expect(several, `${name} ${value}`).toContain(value);
      }
    }
  });

  it('allows results of other types, and checks results of known types', () => {
    const check = compile({ $ref: '#/components/schemas/ProcessRequest' });
    const tape = { observation: 'A stranger asks for a room.', mood: 'sour' };
    for (const lastResult of [
      undefined,
      null,
      { type: 'Weather', rain: true },
      { type: 'IdentifyActorResult', actor: { npcId: 'mira', data: null } },
    ])
      expect(check({ tape, lastResult }), JSON.stringify(lastResult)).toBe(true);
    for (const lastResult of [{}, { type: 'IdentifyActorResult' }, { type: 'QueryVectorResult', memories: [{}] }])
      expect(check({ tape, lastResult }), JSON.stringify(lastResult)).toBe(false);
  });

  it('allows null in optional members of requests', () => {
    const closed = requests.flatMap(({ where, schema }) => {
      const { required = [], properties = {} } = (schemas[schema.$ref?.split('/').at(-1) ?? ''] ?? {}) as {
        required?: readonly string[];
        properties?: Readonly<Record<string, Schema>>;
      };
      return Object.entries(properties)
        .filter(([name, member]) => !required.includes(name) && !compile(member)(null))
        .map(([name]) => `${where} ${name}`);
    });
    expect(closed).toEqual([]);
  });

  it('lists every code, and the details of those with fixed ones', () => {
    expect(schemas['ErrorCode']?.['enum']).toEqual(Object.keys(rejections));
    const check = compile({ $ref: '#/components/schemas/Error' });
    const error = (code: string, details: object) => ({ error: { code, message: 'x', details, requestId: 'r' } });
    expect(check(error('NPC_NOT_FOUND', { npcId: 'mira' }))).toBe(true);
    expect(check(error('NPC_NOT_FOUND', {}))).toBe(false);
    expect(check(error('BUSY', {}))).toBe(true);
    expect(check(error('NO_SUCH_CODE', {}))).toBe(false);
  });
});

describe('the examples', () => {
  it('exist for every JSON body', () => {
    expect(bodies.filter(({ example }) => example === undefined).map(({ where }) => where)).toEqual([]);
  });

  it.each(bodies.map((body) => [body.where, body] as const))('match their schema: %s', (_, { schema, example }) => {
    const check = compile(schema);
    check(example);
    expect(check.errors ?? []).toEqual([]);
  });

  it('exist for every required parameter, and match its schema', () => {
    for (const { operationId, parameters } of operations)
      for (const { name, required, schema, example } of parameters) {
        expect(example !== undefined, `${operationId} ${name}`).toBe(required);
        if (required) expect(compile(schema)(example), `${operationId} ${name}`).toBe(true);
      }
  });
});

describe('the statuses of operations', () => {
  const declared = new Map(operations.map(({ operationId, responses: own }) => [operationId, Object.keys(own)]));
  /** Every request can get one, whatever its route: a programming error, or the record that its client has left. */
  const anywhere = ['499', '500'];
  /** A body with GET, and two `Authorization` headers: a client of the document sends neither. */
  const unlikely = ['getNpc 415', 'getStatus 400'];

  it('include every status in the recorded exchanges', () => {
    const counted = readdirSync(EXCHANGES)
      .filter((name) => name.endsWith('.http'))
      .flatMap((name) => [...readFileSync(join(EXCHANGES, name), 'utf8').matchAll(/^= counted (\w+) (\d+): /gm)])
      .map(([, operationId = '', status = '']) => ({ operationId, status }))
      .filter(({ operationId }) => operationId !== 'unrouted');
    expect(counted.length).toBeGreaterThan(50);
    const undeclared = counted.filter(
      ({ operationId, status }) => !anywhere.includes(status) && declared.get(operationId)?.includes(status) === false,
    );
    expect([...new Set(undeclared.map(({ operationId, status }) => `${operationId} ${status}`))].sort()).toEqual(
      unlikely,
    );
  });

  it('follow from the properties of a route', () => {
    expect(declared.get('getLivez')).toEqual(['200', 'default']);
    expect(declared.get('listNpcs')).toEqual(['200', '400', '401', '403', '429', '503', 'default']);
    expect(declared.get('registerNpc')).toEqual([
      '200',
      '400',
      '401',
      '403',
      '409',
      '413',
      '415',
      '422',
      '429',
      '503',
      'default',
    ]);
    expect(declared.get('getNpc')).toEqual(['200', '400', '401', '403', '404', '429', '503', 'default']);
    expect(declared.get('uploadToArchive')).toEqual([
      '200',
      '201',
      '400',
      '401',
      '413',
      '415',
      '422',
      '503',
      'default',
    ]);
  });
});
