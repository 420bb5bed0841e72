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
import type { TurnIndex } from '../../turns/turn-index.js';
import type { StreamWriters } from '../../../kernel/streams/stream-writers.js';
import { readTurn } from '../../turns/turn-view.js';
import { defined } from '../../../kernel/base/defined.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import { parseNpcStream } from '../../../kernel/base/stream-names.js';
import { contextOf, mindStream, ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { itemOf } from '../memory-item.js';
import { lineageExamples as examples } from './examples.js';
import { MemoryItem } from '../body-schemas.js';
import { minRevision } from '../../../kernel/http/min-revision.js';
import { named } from '../../../kernel/http/named.js';
import { ActionSchema } from '../../turns/protocol-schemas.js';
import { NpcParams, oneOf, pathId } from '../../../kernel/http/schemas.js';

/** How long a reason may be, in characters. */
const REASON_CHARS = 1_024;
/** How long the id of a memory may be: the id of an imported memory can be any text. */
const ID_CHARS = 512;

const time = Type.String({ format: 'date-time' });

const Retraction = named(
  'Retraction',
  Type.Object({
    revision: Type.Integer(),
    at: time,
    by: Type.String({ description: 'The key that retracted it.' }),
    reason: Type.String(),
  }),
);
const LineageCause = named(
  'LineageCause',
  Type.Object({
    turnId: Type.Union([Type.String(), Type.Null()]),
    eventId: Type.String({ format: 'uuid' }),
    revision: Type.Integer(),
    at: time,
    type: Type.String({ description: 'The type of the event that stored it.' }),
    by: Type.String({ description: 'The key that acted, or `system`.' }),
    observation: Type.Optional(Type.String({ description: 'What the NPC perceived in that turn.' })),
  }),
);
const LineageVerdict = named(
  'LineageVerdict',
  Type.Object({ valid: Type.Boolean(), dialogue: Type.String(), action: Type.Union([ActionSchema, Type.Null()]) }),
);
const LineageRecall = named(
  'LineageRecall',
  Type.Object({
    turnId: Type.String(),
    revision: Type.Integer(),
    at: time,
    similarity: Type.Number(),
    match: oneOf(['id', 'text']),
    verdict: Type.Union([LineageVerdict, Type.Null()]),
  }),
);
const DerivedMemory = named(
  'DerivedMemory',
  Type.Object({
    memoryId: Type.String(),
    text: Type.String(),
    turnId: Type.String(),
    revision: Type.Integer(),
    depth: Type.Integer({ description: 'How many steps from the requested memory.' }),
    by: Type.Array(Type.String(), { description: 'The memories of the lineage that its turn recalled.' }),
    retracted: Type.Boolean(),
  }),
);

export const LineageAnswer = named(
  'MemoryLineage',
  Type.Object({
    memory: MemoryItem,
    retracted: Type.Union([Retraction, Type.Null()]),
    cause: LineageCause,
    recalledBy: Type.Array(LineageRecall),
    derived: Type.Array(DerivedMemory),
    cut: Type.Boolean({ description: 'Whether the lineage goes beyond 1,000 memories or 32 steps.' }),
    next: Type.Optional(Type.String({ description: 'Send it as `cursor` to continue.' })),
  }),
);

const RetractMemoriesRequest = named(
  'RetractMemoriesRequest',
  Type.Object({
    memoryIds: Type.Array(Type.String({ minLength: 1, maxLength: ID_CHARS }), {
      minItems: 1,
      maxItems: RETRACTED_MEMORIES,
    }),
    reason: Type.String({ minLength: 1, maxLength: REASON_CHARS, description: 'The reason, which is recorded.' }),
    derived: Type.Optional(
      Type.Boolean({ default: false, description: 'Also retract the memories that were derived from them.' }),
    ),
    dryRun: Type.Optional(Type.Boolean({ default: false, description: 'Only report what would be retracted.' })),
  }),
);

export const RetractionAnswer = named(
  'RetractedMemories',
  Type.Object({
    npcId: Type.String(),
    retracted: Type.Array(
      named(
        'RetractedMemory',
        Type.Object({
          memoryId: Type.String(),
          text: Type.String(),
          derivedFrom: Type.Array(Type.String(), {
            description: 'Retracted memories that were recalled in the turn that stored it.',
          }),
        }),
      ),
    ),
    dryRun: Type.Boolean(),
  }),
);

type LineageRouteDeps = {
  readonly ports: Ports;
  readonly writers: StreamWriters;
  readonly repository: ProcessRepository;
  readonly turnIndex: TurnIndex;
};

/** `GET /npcs/{npcId}/memory/{memoryId}/lineage`, `POST /npcs/{npcId}/memory/retract`. */
export const lineageRoutes = ({
  ports,
  writers,
  repository,
  turnIndex,
}: LineageRouteDeps): readonly RouteDefinition[] => {
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
      summary: 'Trace where a memory came from and what it led to',
      description:
        'Lists every turn that recalled the memory, every memory that those turns stored, and so on. A body with its own recall reports only texts; a text then stands for all memories that had it at that time. One response examines up to 20,000 events; `next` says where to continue.',
      scope: 'audit',
      ext: true,
      params: Type.Object({
        ...NpcParams.properties,
        memoryId: Type.String({
          ...pathId('The id of the memory.', 'mb_mwzc2q5c_oiZk_ZjxMhEOCiF1'),
          maxLength: ID_CHARS,
        }),
      }),
      query: Type.Object({
        cursor: Type.Optional(
          Type.String({ maxLength: LINEAGE_CURSOR_CHARS, description: 'The `next` of the previous part.' }),
        ),
      }),
      refuses: ['NPC_NOT_FOUND', 'MEMORY_NOT_FOUND'],
      reads: ['Anima-Min-Revision'],
      sends: ['Anima-Revision'],
      responses: ok('The lineage, or a part of it.', LineageAnswer, examples.lineage),
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
      summary: 'Retract memories',
      description:
        'They disappear from lists, recall, confirmations and souls immediately. Lists with an earlier `asOf` still show them, and the history keeps who retracted them and why.',
      scope: 'retract',
      ext: true,
      params: NpcParams,
      writesTo: mindStream,
      body: RetractMemoriesRequest,
      example: examples.retract,
      refuses: ['NPC_NOT_FOUND', 'MEMORY_NOT_FOUND', 'CONFLICT', 'RETRACTION_TOO_LARGE'],
      sends: ['Anima-Revision'],
      responses: ok(
        'What was retracted. Memories that were already retracted or cleared are left out.',
        RetractionAnswer,
        examples.retracted,
      ),
      handler: async (call) => {
        const { npcId } = call.params;
        const { memoryIds, reason, derived = false, dryRun = false } = call.body;
        await requireRevision(events, call.principal.tenant, npcId);
        const asked = { memoryIds, reason, derived, dryRun };
        const deps = { ...ports, writers, turnIndex };
        const { retracted, ...done } = await retract(deps, mindStream(call), asked, contextOf(call));
        return { ...done, body: { npcId, retracted, dryRun } };
      },
    }),
  ];
};
