import { Type } from '@sinclair/typebox';

import { type HistoryPage, readHistory } from '../../app/streams/history.js';
import { mindAsOf, requireMind, requireRevision } from '../../app/minds/minds.js';
import { waitForRevision } from '../../app/read-models/read-wait.js';
import { openTurnsOf } from '../../domain/npc/open-turns.js';
import { npcStream } from '../../domain/shared/stream-names.js';
import { Rejection } from '../../domain/shared/rejection.js';
import { momentOf } from '../as-of.js';
import { filterOf, filterQuery } from '../history-query.js';
import { minRevision } from '../min-revision.js';
import { PAGE_LIMIT } from '../page.js';
import { JSON_TYPE } from '../respond.js';
import { ok, route, type RouteDefinition } from '../route.js';
import { FreeObject, NpcParams, oneOf, openObject } from '../schemas.js';
import type { Services } from '../services.js';
import { defined } from '../../domain/shared/defined.js';

const HistoryEvent = openObject({
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
});

/** The body of an answer with a page, around its events, which are JSON already. */
const historyText = (npcId: string, { events, ...page }: HistoryPage): string =>
  `${JSON.stringify({ npcId, ...page }).slice(0, -1)},"events":[${events.join(',')}]}`;

const common = { tag: 'Histories', scope: 'audit', ext: true, params: NpcParams } as const;

/** `GET /npcs/{npcId}/history` and `/state` (contract 10.1). */
export const historyRoutes = ({ ports, lanes }: Services): readonly RouteDefinition[] => [
  route({
    ...common,
    operationId: 'history',
    method: 'GET',
    path: '/npcs/:npcId/history',
    summary: 'Everything that happened to an NPC',
    query: Type.Object({
      from: Type.Optional(Type.Integer({ minimum: 0, description: 'The first revision, inclusive.' })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_LIMIT, default: 100 })),
      direction: Type.Optional(oneOf(['forwards', 'backwards'])),
      ...filterQuery,
    }),
    responses: ok(
      'One page; continue from `next`.',
      Type.Object({
        npcId: Type.String(),
        revision: Type.Integer(),
        next: Type.Optional(Type.Integer()),
        events: Type.Array(HistoryEvent),
      }),
    ),
    handler: async (call) => {
      const { npcId } = call.params;
      const { tenant } = call.principal;
      await requireRevision(ports.events, tenant, npcId);
      const stream = npcStream(tenant, npcId);
      await waitForRevision(ports.events, stream, minRevision(call));
      const { from, limit = 100, direction = 'forwards' } = call.query;
      const asked = { limit, direction, ...defined({ from }), ...filterOf(call.query) };
      const page = await readHistory(ports.events, stream, asked);
      return { revision: page.revision, raw: { type: JSON_TYPE, content: historyText(npcId, page) } };
    },
  }),
  route({
    ...common,
    operationId: 'state',
    method: 'GET',
    path: '/npcs/:npcId/state',
    summary: 'An NPC as it was',
    query: Type.Object({ asOf: Type.Optional(Type.String({ description: 'A revision, or an RFC 3339 timestamp.' })) }),
    responses: ok(
      'The NPC after that revision.',
      Type.Object({
        npcId: Type.String(),
        revision: Type.Integer(),
        at: Type.String({ format: 'date-time' }),
        persona: Type.Union([Type.String(), Type.Null()]),
        data: FreeObject,
        openTurns: Type.Array(Type.String()),
        frozen: Type.Boolean(),
      }),
    ),
    handler: async (call) => {
      const { npcId } = call.params;
      const { tenant } = call.principal;
      const moment = momentOf(call.query.asOf);
      await requireRevision(ports.events, tenant, npcId);
      await waitForRevision(ports.events, npcStream(tenant, npcId), minRevision(call));
      // The current state is kept folded; an earlier state is folded for this answer.
      const mind =
        moment === 'now' ? await requireMind(lanes, tenant, npcId) : await mindAsOf(lanes, tenant, npcId, moment);
      if (mind === null)
        throw new Rejection('NPC_NOT_FOUND', {
          message: 'The NPC did not exist yet at that time.',
          details: { npcId },
        });
      return {
        revision: mind.revision,
        body: {
          npcId,
          revision: mind.revision,
          at: mind.updatedAt,
          persona: mind.persona,
          data: mind.data ?? {},
          openTurns: openTurnsOf(mind.openTurns),
          frozen: false,
        },
      };
    },
  }),
];
