import { Type } from '@sinclair/typebox';

import type { Json } from '../../../src/kernel/base/json.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import { type Answer, type Chunk, route, type RouteDefinition } from '../../../src/kernel/http/route.js';
import { AnyJson, ClientId, FreeObject, nullable } from '../../../src/kernel/http/schemas.js';

const ok = { 200: { description: 'ok' } };

/** Returns its arguments. */
export const echoRoute = route('POST', '/npcs/:npcId/echo', {
  operationId: 'echo',
  tag: 'Fake',
  summary: 'Echoes',
  scope: 'npc',
  params: Type.Object({ npcId: ClientId }),
  query: Type.Object({ limit: Type.Optional(Type.Integer({ minimum: 1 })), deep: Type.Optional(Type.Boolean()) }),
  body: Type.Object({
    text: Type.String(),
    note: nullable(Type.String()),
    free: Type.Optional(AnyJson),
    child: Type.Optional(Type.Object({ name: Type.Optional(Type.String()) })),
    list: Type.Optional(Type.Array(Type.Object({ name: nullable(Type.String()), n: Type.Optional(Type.Number()) }))),
  }),
  responses: ok,
  handler: ({ params, query, body }) => ({ body: { params, query, body } }),
});

/** None of its members is required. */
export const looseRoute = route('POST', '/loose', {
  operationId: 'loose',
  tag: 'Fake',
  summary: 'Takes anything',
  scope: 'npc',
  body: Type.Object({
    a: Type.Optional(Type.Number()),
    npcId: Type.Optional(ClientId),
    data: Type.Optional(FreeObject),
  }),
  responses: ok,
  handler: ({ body }) => ({ body: { body } }),
});

export const openRoute = route('GET', '/open', {
  operationId: 'open',
  tag: 'Fake',
  summary: 'Needs no key',
  scope: null,
  responses: ok,
  handler: ({ principal, requestId }) => ({ body: { keyId: principal.keyId, requestId } }),
});

export const thingRoute = route('GET', '/npcs/:npcId', {
  operationId: 'thing',
  tag: 'Fake',
  summary: 'Reads a thing that is not there',
  scope: 'npc',
  responses: ok,
  handler: () => {
    throw new Rejection('NPC_NOT_FOUND');
  },
});

/** A custom handler behind `POST /run`. */
export const runRoute = (
  handler: RouteDefinition['handler'],
  over: Partial<RouteDefinition> = {},
): RouteDefinition => ({
  operationId: 'run',
  method: 'POST',
  path: '/run',
  tag: 'Fake',
  summary: 'Runs',
  scope: 'npc',
  responses: ok,
  handler,
  ...over,
});

/** The responses of a route that streams. */
export const streams = (stream: 'finite' | 'endless'): RouteDefinition['responses'] => ({
  200: { description: 'a stream', contentType: 'text/event-stream', stream },
});

/** The responses of a route that streams JSON. */
export const jsonStream: RouteDefinition['responses'] = { 200: { description: 'a stream of JSON', stream: 'finite' } };

/** Waits until the client leaves the stream. */
export const untilLeft = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve()));

/** A streamed response: one chunk, then further actions. */
export const streamed = (
  chunk: Chunk,
  then: (signal: AbortSignal) => Promise<void> = () => Promise.resolve(),
): Answer => ({
  stream: {
    type: 'text/event-stream',
    chunks: async function* (signal) {
      yield chunk;
      await then(signal);
    },
  },
});

export const nested = (depth: number): Json => (depth === 0 ? 1 : [nested(depth - 1)]);
