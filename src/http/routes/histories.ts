import { Type } from '@sinclair/typebox';

import { readHistory } from '../../app/history.js';
import { mindAsOf, requireMind } from '../../app/minds.js';
import { waitForRevision } from '../../app/read-wait.js';
import { npcStream } from '../../domain/shared/stream-names.js';
import { Rejection } from '../../domain/shared/rejection.js';
import { minRevision, revisionHeader } from '../min-revision.js';
import { PAGE_LIMIT } from '../page.js';
import { type RouteDefinition, route } from '../route.js';
import { FreeObject, NpcParams } from '../schemas.js';
import type { Services } from '../services.js';

const HistoryEvent = Type.Object(
  {
    revision: Type.Integer(),
    id: Type.String({ format: 'uuid' }),
    type: Type.String(),
    at: Type.String({ format: 'date-time' }),
    actor: Type.String({ description: 'The key that acted, or `system`.' }),
    causationId: Type.Union([Type.String(), Type.Null()]),
    correlationId: Type.String(),
    turnId: Type.Optional(Type.String()),
    data: FreeObject,
    hash: Type.String(),
    prevHash: Type.String(),
  },
  { additionalProperties: true },
);

/** A revision when it is digits only, else an instant (RFC 3339). */
const momentOf = (asOf: string | undefined): { revision: number } | { timeMs: number } => {
  if (asOf === undefined) return { revision: Number.MAX_SAFE_INTEGER };
  if (/^\d{1,15}$/.test(asOf)) return { revision: Number(asOf) };
  const instant = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/.test(asOf)
    ? Date.parse(asOf.toUpperCase())
    : NaN;
  if (Number.isNaN(instant)) {
    throw new Rejection('SCHEMA_INVALID', {
      details: { issues: [{ pointer: '/asOf', message: 'must be a revision or an RFC 3339 timestamp' }] },
    });
  }
  // What happened within the millisecond that the timestamp names is in it.
  return { timeMs: instant };
};

/** `GET /npcs/{npcId}/history` and `/state` (contract 10.1). */
export const historyRoutes = ({ ports, lanes }: Services): readonly RouteDefinition[] => [
  route({
    operationId: 'history',
    method: 'GET',
    path: '/npcs/:npcId/history',
    tag: 'Histories',
    summary: 'Everything that happened to an NPC',
    scope: 'audit',
    ext: true,
    params: NpcParams,
    query: Type.Object({
      from: Type.Optional(Type.Integer({ minimum: 0, description: 'The first revision, included.' })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_LIMIT, default: 100 })),
      direction: Type.Optional(
        Type.Unsafe<'forwards' | 'backwards'>({ type: 'string', enum: ['forwards', 'backwards'] }),
      ),
      type: Type.Optional(Type.String({ description: 'Only events of these types, separated by commas.' })),
    }),
    responses: {
      200: {
        description: 'One page; go on from `next`.',
        schema: Type.Object({
          npcId: Type.String(),
          revision: Type.Integer(),
          next: Type.Optional(Type.Integer()),
          events: Type.Array(HistoryEvent),
        }),
      },
    },
    handler: async (call) => {
      const { npcId } = call.params;
      const { tenant } = call.principal;
      await requireMind(lanes, tenant, npcId);
      const stream = npcStream(tenant, npcId);
      await waitForRevision(ports.events, stream, minRevision(call));
      const { from, limit = 100, direction = 'forwards', type } = call.query;
      const page = await readHistory(ports.events, stream, {
        limit,
        direction,
        ...(from === undefined ? {} : { from }),
        ...(type === undefined ? {} : { types: new Set(type.split(',')) }),
      });
      return { headers: revisionHeader(page.revision), body: { npcId, ...page } };
    },
  }),
  route({
    operationId: 'state',
    method: 'GET',
    path: '/npcs/:npcId/state',
    tag: 'Histories',
    summary: 'An NPC as it was',
    scope: 'audit',
    ext: true,
    params: NpcParams,
    query: Type.Object({ asOf: Type.Optional(Type.String({ description: 'A revision, or an RFC 3339 timestamp.' })) }),
    responses: {
      200: {
        description: 'The NPC after that revision.',
        schema: Type.Object({
          npcId: Type.String(),
          revision: Type.Integer(),
          at: Type.String({ format: 'date-time' }),
          persona: Type.Union([Type.String(), Type.Null()]),
          data: FreeObject,
          openTurns: Type.Array(Type.String()),
          frozen: Type.Boolean(),
        }),
      },
    },
    handler: async (call) => {
      const { npcId } = call.params;
      const { tenant } = call.principal;
      const moment = momentOf(call.query.asOf);
      await requireMind(lanes, tenant, npcId);
      await waitForRevision(ports.events, npcStream(tenant, npcId), minRevision(call));
      const mind = await mindAsOf(ports.events, tenant, npcId, moment);
      if (mind === null)
        throw new Rejection('NPC_NOT_FOUND', {
          message: 'The NPC had no history yet at that time.',
          details: { npcId },
        });
      return {
        headers: revisionHeader(mind.revision),
        body: {
          npcId,
          revision: mind.revision,
          at: mind.updatedAt,
          persona: mind.persona,
          data: mind.data ?? {},
          openTurns: mind.openTurns,
          frozen: false,
        },
      };
    },
  }),
];
