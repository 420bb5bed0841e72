import { Type } from '@sinclair/typebox';

import { exportHistory, type HistoryPage, readHistory } from '../../../kernel/streams/history.js';
import { mindAsOf, requireMind } from '../find-mind.js';
import type { EventChecks } from '../../../kernel/streams/event-checks.js';
import { storedHash } from '../../../kernel/streams/hash-chain.js';
import type { StreamWriters } from '../../../kernel/streams/stream-writers.js';
import { Semaphore } from '../../../kernel/concurrency/semaphore.js';
import { openTurnsOf } from '../domain/open-turns.js';
import type { JsonObject } from '../../../kernel/base/json.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import type { RecordedEvent } from '../../../ports/event-store.js';
import type { Ports } from '../../../ports/ports.js';
import { momentOf } from '../../../kernel/http/as-of.js';
import { fileName } from '../../../kernel/http/file-name.js';
import { csvHeader, csvLine } from './history-csv.js';
import { filterOf, filterQuery } from '../../../kernel/http/history-query.js';
import { PAGE_LIMIT } from '../../../kernel/http/page.js';
import { readMind } from '../read-mind.js';
import { JSON_TYPE } from '../../../kernel/http/respond.js';
import { ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { named } from '../../../kernel/http/named.js';
import { FreeObject, NpcParams, oneOf } from '../../../kernel/http/schemas.js';
import { historyExamples as examples } from './examples.js';
import { defined } from '../../../kernel/base/defined.js';

const HistoryEvent = named(
  'HistoryEvent',
  Type.Object({
    revision: Type.Integer(),
    id: Type.String({ format: 'uuid' }),
    type: Type.String({ description: 'Such as `NpcRegistered`. New types may be added.' }),
    at: Type.String({ format: 'date-time' }),
    actor: Type.String({ description: 'The key that acted, or `system`.' }),
    commandId: Type.String({ description: 'The request, or the step of a process, that recorded it.' }),
    causationId: Type.Union([Type.String(), Type.Null()]),
    correlationId: Type.String(),
    schemaVersion: Type.Integer({ description: 'The version of the schema of `data`.' }),
    turnId: Type.Optional(Type.String()),
    data: Type.Unsafe<JsonObject>({
      ...FreeObject,
      description: 'What happened. Each type and version has a published JSON Schema.',
    }),
    hash: Type.String(),
    prevHash: Type.String(),
    broken: Type.Optional(
      Type.Literal(true, { description: 'The stored event is not what was recorded, so nothing about it is signed.' }),
    ),
  }),
);
const History = named(
  'History',
  Type.Object({
    npcId: Type.String(),
    revision: Type.Integer({ description: 'The last revision of the NPC.' }),
    next: Type.Optional(Type.Integer({ description: 'The revision to continue from; absent at the end.' })),
    events: Type.Array(HistoryEvent),
  }),
);
const NpcState = named(
  'NpcState',
  Type.Object({
    npcId: Type.String(),
    revision: Type.Integer(),
    at: Type.String({ format: 'date-time' }),
    persona: Type.Union([Type.String(), Type.Null()]),
    data: FreeObject,
    facts: FreeObject,
    openTurns: Type.Array(Type.String(), { description: 'The ids of the turns that had not ended.' }),
    frozen: Type.Boolean({ description: 'Always false.' }),
  }),
);

/** The body of an answer with a page, around its events, which are JSON already. */
const historyText = (npcId: string, { events, ...page }: HistoryPage): string =>
  `${JSON.stringify({ npcId, ...page }).slice(0, -1)},"events":[${events.join(',')}]}`;

const common = {
  tag: 'Histories',
  scope: 'audit',
  ext: true,
  params: NpcParams,
  refuses: ['NPC_NOT_FOUND'],
  reads: ['Anima-Min-Revision'],
} as const;

type HistoryRouteDeps = { readonly ports: Ports; readonly writers: StreamWriters; readonly checks: EventChecks };

/** `GET /npcs/{npcId}/history` and `/state`. */
export const historyRoutes = ({ ports, writers, checks }: HistoryRouteDeps): readonly RouteDefinition[] => [
  route('GET', '/npcs/:npcId/history', {
    ...common,
    operationId: 'history',
    summary: 'Read the history of an NPC',
    description: 'With a filter, a page may hold fewer events than `limit`, even none, and still have `next`.',
    query: Type.Object({
      from: Type.Optional(Type.Integer({ minimum: 0, description: 'The first revision, inclusive.' })),
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: PAGE_LIMIT, default: 100, description: 'How many events to return.' }),
      ),
      direction: Type.Optional(
        Type.Unsafe<'forwards' | 'backwards'>({
          ...oneOf(['forwards', 'backwards']),
          description: 'Oldest first (the default), or newest first.',
        }),
      ),
      ...filterQuery,
    }),
    sends: ['Anima-Revision'],
    responses: ok('One page; continue from `next`.', History, examples.history),
    handler: async (call) => {
      const { npcId, stream } = await readMind(ports.events, call);
      const { from, limit = 100, direction = 'forwards' } = call.query;
      const asked = { limit, direction, ...defined({ from }), ...filterOf(call.query) };
      const isBroken = async (event: RecordedEvent): Promise<boolean> =>
        storedHash(event) === '' || checks.isBroken(event);
      const page = await readHistory(ports.events, stream, asked, isBroken);
      return { revision: page.revision, raw: { type: JSON_TYPE, content: historyText(npcId, page) } };
    },
  }),
  route('GET', '/npcs/:npcId/state', {
    ...common,
    operationId: 'state',
    summary: 'Get an NPC as it was at a moment',
    query: Type.Object({
      asOf: Type.Optional(Type.String({ description: 'A revision or an RFC 3339 timestamp; now by default.' })),
    }),
    sends: ['Anima-Revision'],
    responses: ok('The NPC after that revision.', NpcState, examples.state),
    handler: async (call) => {
      const moment = momentOf(call.query.asOf);
      const { tenant, npcId } = await readMind(ports.events, call);
      // The current state is kept folded; an earlier state is folded for this answer.
      const mind =
        moment === 'now' ? await requireMind(writers, tenant, npcId) : await mindAsOf(writers, tenant, npcId, moment);
      if (mind === null)
        throw new Rejection('NPC_NOT_FOUND', {
          message: 'The NPC did not exist at that time.',
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
          facts: mind.facts ?? {},
          openTurns: openTurnsOf(mind.openTurns),
          frozen: false,
        },
      };
    },
  }),
];

/** The maximum number of exports at a time, in total and of one tenant: each holds a page of its stream. */
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
      summary: 'Export the history of an NPC as a file',
      description: 'One line for each event.',
      query: Type.Object({
        format: Type.Optional(
          Type.Unsafe<'ndjson' | 'csv'>({
            ...{ type: 'string', enum: ['ndjson', 'csv'], default: 'ndjson' },
            description: 'Newline-delimited JSON, or CSV.',
          }),
        ),
        ...filterQuery,
      }),
      sends: ['Anima-Revision', 'Content-Disposition'],
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
