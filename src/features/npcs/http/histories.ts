import { Type } from '@sinclair/typebox';

import { exportHistory, type HistoryPage, readHistory } from '../../../kernel/streams/history.js';
import { mindAsOf, requireMind } from '../find-mind.js';
import type { StreamWriters } from '../../../kernel/streams/stream-writers.js';
import { Semaphore } from '../../../kernel/concurrency/semaphore.js';
import { openTurnsOf } from '../domain/open-turns.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import type { Ports } from '../../../ports/ports.js';
import { momentOf } from '../../../kernel/http/as-of.js';
import { fileName } from '../../../kernel/http/file-name.js';
import { csvHeader, csvLine } from './history-csv.js';
import { filterOf, filterQuery } from '../../../kernel/http/history-query.js';
import { PAGE_LIMIT } from '../../../kernel/http/page.js';
import { readMind } from '../read-mind.js';
import { JSON_TYPE } from '../../../kernel/http/respond.js';
import { ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { FreeObject, NpcParams, oneOf, openObject } from '../../../kernel/http/schemas.js';
import { defined } from '../../../kernel/base/defined.js';

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

type HistoryRouteDeps = { readonly ports: Ports; readonly writers: StreamWriters };

/** `GET /npcs/{npcId}/history` and `/state`. */
export const historyRoutes = ({ ports, writers }: HistoryRouteDeps): readonly RouteDefinition[] => [
  route('GET', '/npcs/:npcId/history', {
    ...common,
    operationId: 'history',
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
      const { npcId, stream } = await readMind(ports.events, call);
      const { from, limit = 100, direction = 'forwards' } = call.query;
      const asked = { limit, direction, ...defined({ from }), ...filterOf(call.query) };
      const page = await readHistory(ports.events, stream, asked);
      return { revision: page.revision, raw: { type: JSON_TYPE, content: historyText(npcId, page) } };
    },
  }),
  route('GET', '/npcs/:npcId/state', {
    ...common,
    operationId: 'state',
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
      const moment = momentOf(call.query.asOf);
      const { tenant, npcId } = await readMind(ports.events, call);
      // The current state is kept folded; an earlier state is folded for this answer.
      const mind =
        moment === 'now' ? await requireMind(writers, tenant, npcId) : await mindAsOf(writers, tenant, npcId, moment);
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

/** How many histories are exported at once, and how many of one tenant: each holds a page of its stream. */
const EXPORTS = 16;
const TENANT_EXPORTS = 8;

const NDJSON_TYPE = 'application/x-ndjson';
const CSV_TYPE = 'text/csv; charset=utf-8';

/** `GET /npcs/{npcId}/history/export`. */
export const historyExportRoutes = ({ ports }: HistoryRouteDeps): readonly RouteDefinition[] => {
  const permits = new Semaphore(EXPORTS, TENANT_EXPORTS);
  return [
    route('GET', '/npcs/:npcId/history/export', {
      ...common,
      operationId: 'exportHistory',
      summary: 'A whole history as a file: a line for each event',
      query: Type.Object({
        format: Type.Optional(
          Type.Unsafe<'ndjson' | 'csv'>({ type: 'string', enum: ['ndjson', 'csv'], default: 'ndjson' }),
        ),
        ...filterQuery,
      }),
      responses: {
        200: {
          description: 'The events, oldest first.',
          stream: 'finite',
          contentType: NDJSON_TYPE,
          orType: CSV_TYPE,
        },
      },
      handler: async (call) => {
        const asked = filterOf(call.query);
        const { tenant, npcId, stream, revision } = await readMind(ports.events, call);
        const { format = 'ndjson' } = call.query;
        return {
          revision,
          headers: {
            'Content-Disposition': `attachment; filename="${fileName(npcId, format)}"`,
            'X-Content-Type-Options': 'nosniff',
          },
          stream: {
            type: format === 'csv' ? CSV_TYPE : NDJSON_TYPE,
            chunks: async function* () {
              const release = permits.acquire(tenant);
              try {
                if (format === 'csv') yield csvHeader();
                const lineOf = format === 'csv' ? csvLine : (event: object) => `${JSON.stringify(event)}\n`;
                yield* exportHistory(ports.events, stream, asked, lineOf);
              } finally {
                release();
              }
            },
          },
        };
      },
    }),
  ];
};
