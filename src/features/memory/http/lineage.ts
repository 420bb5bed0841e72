import { Type } from '@sinclair/typebox';

import type { Ports } from '../../../ports/ports.js';
import { memories, type MemoryRow } from '../../../../projections/memories.js';
import { lineagePart } from '../lineage.js';
import { LINEAGE_CURSOR_CHARS } from '../lineage-cursor.js';
import { memoryRows } from '../memory-rows.js';
import { retract, RETRACTED_MEMORIES } from '../retract.js';
import { requireRevision } from '../../npcs/find-mind.js';
import type { ProcessRepository } from '../../../kernel/processes/process-repository.js';
import { waitForStream } from '../../../kernel/read-models/read-wait.js';
import { eventAt } from '../../../kernel/streams/stream-pages.js';
import type { StreamWriters } from '../../../kernel/streams/stream-writers.js';
import { readTurn } from '../../turns/turn-view.js';
import { defined } from '../../../kernel/base/defined.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import { parseNpcStream } from '../../../kernel/base/stream-names.js';
import { contextOf, mindStream, ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { itemOf } from '../memory-item.js';
import { Item } from './schemas.js';
import { minRevision } from '../../../kernel/http/min-revision.js';
import { ClientId, FreeObject, NpcParams, oneOf } from '../../../kernel/http/schemas.js';

/** How long a reason may be, in characters. */
const REASON_CHARS = 1_024;
/** How long the id of a memory may be: one that a soul brought may be any text. */
const ID_CHARS = 512;

export const LineageAnswer = Type.Object({
  memory: Item,
  retracted: Type.Union([
    Type.Object({
      revision: Type.Integer(),
      at: Type.String({ format: 'date-time' }),
      by: Type.String({ description: 'The key that did it.' }),
      reason: Type.String(),
    }),
    Type.Null(),
  ]),
  cause: Type.Object({
    turnId: Type.Union([Type.String(), Type.Null()]),
    eventId: Type.String({ format: 'uuid' }),
    revision: Type.Integer(),
    at: Type.String({ format: 'date-time' }),
    type: Type.String({ description: 'Of the event that stored it.' }),
    by: Type.String({ description: 'The key that acted, or `system`.' }),
    observation: Type.Optional(Type.String({ description: 'What its turn perceived.' })),
  }),
  recalledBy: Type.Array(
    Type.Object({
      turnId: Type.String(),
      revision: Type.Integer(),
      at: Type.String({ format: 'date-time' }),
      similarity: Type.Number(),
      match: oneOf(['id', 'text']),
      verdict: Type.Union([FreeObject, Type.Null()]),
    }),
  ),
  derived: Type.Array(
    Type.Object({
      memoryId: Type.String(),
      text: Type.String(),
      turnId: Type.String(),
      revision: Type.Integer(),
      depth: Type.Integer({ description: 'How many steps from the memory that was asked for.' }),
      by: Type.Array(Type.String(), { description: 'Which memories of the lineage its turn recalled.' }),
      retracted: Type.Boolean(),
    }),
  ),
  cut: Type.Boolean({ description: 'Whether the lineage goes further than 1,000 memories or 32 steps.' }),
  next: Type.Optional(Type.String({ description: 'Send it as `cursor` to go on.' })),
});

export const RetractionAnswer = Type.Object({
  npcId: Type.String(),
  retracted: Type.Array(
    Type.Object({
      memoryId: Type.String(),
      text: Type.String(),
      derivedFrom: Type.Array(Type.String(), { description: 'Memories that the turn recalled which stored it.' }),
    }),
  ),
  dryRun: Type.Boolean(),
});

type LineageRouteDeps = {
  readonly ports: Ports;
  readonly writers: StreamWriters;
  readonly repository: ProcessRepository;
};

/** `GET /npcs/{npcId}/memory/{memoryId}/lineage`, `POST /npcs/{npcId}/memory/retract`. */
export const lineageRoutes = ({ ports, writers, repository }: LineageRouteDeps): readonly RouteDefinition[] => {
  const { events, readModels } = ports;

  /** What the turn of a memory perceived; absent where its opening is not to be found. */
  const observationOf = async (stream: string, turnId: string | null): Promise<string | undefined> => {
    const mind = parseNpcStream(stream);
    if (turnId === null || mind === null) return undefined;
    try {
      return (await readTurn({ events, repository }, mind.tenant, mind.npcId, turnId)).observation;
    } catch (error) {
      if (error instanceof Rejection && error.code === 'TURN_NOT_FOUND') return undefined;
      throw error;
    }
  };

  const causeOf = async ({ stream, turnId, eventId, revision }: MemoryRow) => {
    const stored = await eventAt(events, stream, revision);
    if (stored === undefined) throw new Error(`The event ${eventId} that stored a memory is not in its stream.`);
    const { type, meta } = stored;
    const observation = await observationOf(stream, turnId);
    return { turnId, eventId, revision, at: meta.at, type, by: meta.actor, ...defined({ observation }) };
  };

  const retractionOf = async ({ stream, retractedAt }: MemoryRow) => {
    const recorded = retractedAt === undefined ? undefined : await eventAt(events, stream, retractedAt);
    if (recorded === undefined) return null;
    const { revision, data, meta } = recorded;
    return { revision, at: meta.at, by: meta.actor, reason: data['reason'] };
  };

  return [
    route('GET', '/npcs/:npcId/memory/:memoryId/lineage', {
      operationId: 'memoryLineage',
      tag: 'Memory',
      summary: 'Where a memory comes from, and what came of it',
      description:
        'Every turn that recalled it, every memory that those turns stored, and so on. A body that recalls by itself names texts only: a text stands for the memories that had it by then. One answer looks at 20,000 events at most; `next` says where to go on.',
      scope: 'audit',
      ext: true,
      params: Type.Object({ npcId: ClientId, memoryId: Type.String({ maxLength: ID_CHARS }) }),
      query: Type.Object({ cursor: Type.Optional(Type.String({ maxLength: LINEAGE_CURSOR_CHARS })) }),
      responses: ok('The lineage, or a part of it.', LineageAnswer),
      handler: async (call) => {
        const { npcId, memoryId } = call.params;
        const stream = mindStream(call);
        const revision = await requireRevision(events, call.principal.tenant, npcId);
        await waitForStream(ports, memories, stream, minRevision(call));
        const row = (await memoryRows(readModels, stream, [memoryId])).get(memoryId);
        if (row === undefined) throw new Rejection('MEMORY_NOT_FOUND', { details: { npcId, memoryId } });
        const { derived, ...part } = await lineagePart({ events }, stream, row, call.query.cursor);
        const ids = derived.map((one) => one.memoryId);
        const rows = await memoryRows(readModels, stream, ids);
        return {
          revision,
          body: {
            memory: itemOf(row, { similarity: 1 }),
            retracted: await retractionOf(row),
            cause: await causeOf(row),
            ...part,
            derived: derived.map((one) => ({ ...one, retracted: rows.get(one.memoryId)?.retractedAt !== undefined })),
          },
        };
      },
    }),
    route('POST', '/npcs/:npcId/memory/retract', {
      operationId: 'retractMemories',
      tag: 'Memory',
      summary: 'Take memories back, and what was derived from them',
      description:
        'They leave lists, recall, confirms and souls at once. As of a moment before they are still there, and the history says who took them back, and why. With `derived` their lineage goes with them; with `dryRun` nothing is done.',
      scope: 'ops',
      ext: true,
      params: NpcParams,
      writesTo: mindStream,
      body: Type.Object({
        memoryIds: Type.Array(Type.String({ minLength: 1, maxLength: ID_CHARS }), {
          minItems: 1,
          maxItems: RETRACTED_MEMORIES,
        }),
        reason: Type.String({ minLength: 1, maxLength: REASON_CHARS }),
        derived: Type.Optional(Type.Boolean({ default: false, description: 'Also what was derived from them.' })),
        dryRun: Type.Optional(Type.Boolean({ default: false, description: 'Only say what would go.' })),
      }),
      responses: ok('What was taken back: nothing that was gone already.', RetractionAnswer),
      handler: async (call) => {
        const { npcId } = call.params;
        const { memoryIds, reason, derived = false, dryRun = false } = call.body;
        await requireRevision(events, call.principal.tenant, npcId);
        const asked = { memoryIds, reason, derived, dryRun };
        const { retracted, ...done } = await retract({ ...ports, writers }, mindStream(call), asked, contextOf(call));
        return { ...done, body: { npcId, retracted, dryRun } };
      },
    }),
  ];
};
