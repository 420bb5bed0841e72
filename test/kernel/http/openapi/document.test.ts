import { describe, expect, it } from 'vitest';

import { createMetrics } from '../../../../src/adapters/prometheus/metrics.js';
import { createLifecycle } from '../../../../src/kernel/http/lifecycle.js';
import { openApi, openApiSlices } from '../../../../src/kernel/http/openapi/document.js';
import type { RouteDefinition } from '../../../../src/kernel/http/route.js';
import { statusRoutes } from '../../../../src/kernel/http/status.js';
import { echoRoute, looseRoute, openRoute, runRoute, thingRoute } from '../fake-routes.js';

const routes = [
  echoRoute,
  looseRoute,
  openRoute,
  thingRoute,
  runRoute(() => ({}), {
    operationId: 'rules',
    path: '/rules',
    shortForbidden: true,
    ext: true,
    deprecated: '2026-01-31',
    description: 'a < b & "c"',
  }),
  ...statusRoutes({
    lifecycle: createLifecycle(),
    metrics: createMetrics(),
    dependencies: () => ({}),
    allRoutes: () => [],
  }),
];

describe('the OpenAPI document', () => {
  const document = JSON.parse(JSON.stringify(openApi(routes)));

  it('contains every route under its path and method [10.9a]', () => {
    expect(document.openapi).toBe('3.1.0');
    expect(document.info.version).toBe('1.0.0');
    for (const { method, path, operationId } of routes) {
      const operation = document.paths[path.replace(/:(\w+)/g, '{$1}')][method.toLowerCase()];
      expect(operation.operationId).toBe(operationId);
    }
    const count = Object.values<object>(document.paths).flatMap((path) => Object.keys(path)).length;
    expect(count).toBe(routes.length);
  });

  it('is made in slices of at most one route, so that a server can serve requests meanwhile', () => {
    const work = openApiSlices(routes);
    let slices = 0;
    for (let step = work.next(); ; step = work.next()) {
      if (step.done === true) {
        expect(JSON.parse(JSON.stringify(step.value))).toEqual(document);
        break;
      }
      slices += 1;
    }
    expect(slices).toBeGreaterThanOrEqual(2 * routes.length);
  });

  it('describes path and query parameters, the body and whether it is required, and the Idempotency-Key of writes [1.7a]', () => {
    const operation = document.paths['/npcs/{npcId}/echo'].post;
    expect(
      operation.parameters.map(({ name, in: where, required }: Record<string, unknown>) => [name, where, required]),
    ).toEqual([
      ['npcId', 'path', true],
      ['limit', 'query', false],
      ['deep', 'query', false],
      ['Idempotency-Key', 'header', false],
    ]);
    expect(operation.parameters[1].schema).toEqual({ type: 'integer', minimum: 1 });
    expect(operation.requestBody.required).toBe(true);
    expect(operation.requestBody.content['application/json'].schema.required).toEqual(['text']);
    expect(document.paths['/loose'].post.requestBody.required).toBe(false);
    expect(document.paths['/npcs/{npcId}'].get.parameters).toHaveLength(1);
  });

  it('states which routes need a key and which scope', () => {
    expect(document.paths['/open'].get.security).toEqual([]);
    expect(document.paths['/loose'].post).toMatchObject({ security: [{ apiKey: [] }], 'x-scopes': ['npc'] });
    expect(document.components.securitySchemes.apiKey).toMatchObject({ type: 'http', scheme: 'bearer' });
  });

  it('marks additions and deprecated routes [1.1c]', () => {
    expect(document.paths['/rules'].post).toMatchObject({ tags: ['Fake', '(ext)'], deprecated: true });
    expect(document.paths['/loose'].post.tags).toEqual(['Fake']);
    expect(document.paths['/loose'].post.deprecated).toBeUndefined();
  });

  it('states the media type of everything but JSON, as text or as bytes', () => {
    const typed = (contentType: string): RouteDefinition =>
      runRoute(() => ({}), { method: 'GET', responses: { 200: { description: '', contentType } } });
    const contentOf = (contentType: string) =>
      JSON.parse(JSON.stringify(openApi([typed(contentType)]))).paths['/run'].get.responses['200'].content;
    const bytes = { type: 'string', format: 'binary' };
    expect(contentOf('image/png')).toEqual({ 'image/png': { schema: bytes } });
    expect(contentOf('application/x-ndjson')).toEqual({ 'application/x-ndjson': { schema: bytes } });
    expect(contentOf('text/event-stream')).toEqual({ 'text/event-stream': { schema: { type: 'string' } } });
    expect(document.paths['/openapi.json'].get.responses['200'].content).toEqual({
      'application/json': {
        schema: { $ref: '#/components/schemas/OpenApiDocument' },
        example: { openapi: '3.1.0', info: { title: 'Anima', version: '1.0.0' }, paths: {} },
      },
    });
  });

  it('says where an API key is, in its introduction and beside the form for the key', () => {
    for (const { description } of [document.info, document.components.securitySchemes.apiKey]) {
      expect(description).toContain('`.anima/owner-key`');
      expect(description).toContain('`npx anima keys issue`');
    }
  });

  it('refers only to what it contains', () => {
    const references = JSON.stringify(document).matchAll(/"#\/components\/(\w+)\/([\w-]+)"/g);
    const named = Array.from(references, ([, kind = '', name = '']) => [kind, name] as const);
    expect(named.length).toBeGreaterThan(100);
    for (const [kind, name] of named) expect(document.components[kind][name], name).toBeTypeOf('object');
    const { $ref } = document.paths['/rules'].post.responses['403'];
    expect($ref).toBe('#/components/responses/ShortForbidden');
    const short = document.components.responses.ShortForbidden.content['application/json'].schema;
    expect(short.$ref).toBe('#/components/schemas/ShortError');
  });
});
