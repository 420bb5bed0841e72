import { Type } from '@sinclair/typebox';

import { confirm } from '../confirm.js';
import { visibleRange } from '../visible-range.js';
import { mindFold } from '../../npcs/mind-fold.js';
import { waitForStream } from '../../../kernel/read-models/read-wait.js';
import type { StreamEvent } from '../../../kernel/streams/fold.js';
import { runCommand } from '../../../kernel/streams/run-command.js';
import type { StreamWriters } from '../../../kernel/streams/stream-writers.js';
import { clearMemories, CONFIRMED_IMPORTANCE, STORED_TYPE, storeMemory } from '../domain/decide.js';
import { fitsMetadata, METADATA_BYTES } from '../../npcs/domain/recorded-bytes.js';
import { takeRecordable } from '../../../kernel/streams/take-recordable.js';
import { defined } from '../../../kernel/base/defined.js';
import type { Json, JsonObject } from '../../../kernel/base/json.js';
import type { Ports } from '../../../ports/ports.js';
import {
  isStanding,
  memories,
  memoriesListed,
  type MemoryRow,
  memoryRow,
  memoryTag,
} from '../../../../projections/memories.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import { momentOf } from '../../../kernel/http/as-of.js';
import { agentStream, contextOf, mindStream, ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { answerList } from '../../../kernel/http/list-answer.js';
import { agentMemoryOf, itemOf } from '../memory-item.js';
import { memoryExamples as examples } from './examples.js';
import { AgentMemory, memoryFilters, MemoryItem, MemoryList, MemoryText } from '../body-schemas.js';
import { minRevision } from '../../../kernel/http/min-revision.js';
import { pageOf, pageQuery } from '../../../kernel/http/page.js';
import { PLAYER_HEADER } from '../../../kernel/http/headers.js';
import { named } from '../../../kernel/http/named.js';
import { PlayerSchema } from '../../turns/body-schemas.js';
import type { TurnIndex } from '../../turns/turn-index.js';
import { speakerOf } from '../../turns/speaker-of.js';
import { AgentParams, FreeObject, NpcParams } from '../../../kernel/http/schemas.js';

/** The filters of the list. */
const memoryQuery = {
  ...memoryFilters,
  asOf: Type.Optional(
    Type.String({ description: 'The memories as they were after this revision, or at this RFC 3339 timestamp.' }),
  ),
};

const common = { tag: 'Memory', scope: 'memory' } as const;

type MemoryRouteDeps = { readonly ports: Ports; readonly writers: StreamWriters };

/** `GET /npcs/{npcId}/memory`. */
export const memoryRoutes = ({ ports, writers }: MemoryRouteDeps): readonly RouteDefinition[] => [
  route('GET', '/npcs/:npcId/memory', {
    ...common,
    operationId: 'listMemories',
    summary: "List an NPC's memories",
    description:
      'Oldest first. The list is empty for an unknown NPC, and for an archived one unless `asOf` is sent. Cleared and retracted memories are listed only with an `asOf` from before that. With `minImportance`, or when some memories were retracted, one response examines up to 20,000 memories; `Link` says where to continue.',
    params: NpcParams,
    query: Type.Object({ ...pageQuery, ...memoryQuery }),
    reads: ['Anima-Min-Revision'],
    sends: ['Anima-Revision'],
    responses: { 200: { description: 'The memories.', schema: MemoryList, example: examples.list, stream: 'finite' } },
    handler: async (call) => {
      const { type, minImportance, asOf } = call.query;
      const page = pageOf(call.query);
      const moment = momentOf(asOf);
      const stream = mindStream(call);
      await waitForStream(ports, memories, stream, minRevision(call));
      // Of the read model, which may be behind: the list shows at least this much.
      const revision = await ports.readModels.progress(memories, stream);
      const range = revision < 0 ? null : await visibleRange({ ...ports, writers }, stream, moment, revision);
      if (range === null) return { revision, body: [] };
      const { asOf: seenAsOf, someRetracted = false, ...within } = range;
      const keep = (row: Json): boolean => {
        const memory = row as unknown as MemoryRow;
        return memory.importance >= (minImportance ?? 0) && isStanding(memory, seenAsOf);
      };
      const answer = await answerList(call, page, {
        readModels: ports.readModels,
        projection: memories,
        query: {
          partition: memoriesListed(stream),
          direction: 'ascending',
          within,
          ...(type === undefined
            ? {}
            : {
                tags: type
                  .split(',')
                  .filter((name) => name !== '')
                  .map(memoryTag),
              }),
        },
        ...(minImportance === undefined && !someRetracted ? {} : { keep }),
        show: (row) => itemOf(row as unknown as MemoryRow, { similarity: 1, asOf: seenAsOf }),
      });
      return { ...answer, revision: Math.min(revision, seenAsOf ?? revision) };
    },
  }),
];

/** The longest type of a memory that a client may choose, in characters. */
const TYPE_CHARS = 64;
/** The types of the agent family. */
const types = ['observation', 'experience', 'knowledge', 'emotion'] as const;

const ConfirmMemoryRequest = named(
  'ConfirmMemoryRequest',
  Type.Object({
    observation: Type.Optional({ ...MemoryText, description: `What was perceived. ${MemoryText.description ?? ''}` }),
    text: Type.Optional({
      ...MemoryText,
      description: `The text of the memory; \`observation\` wins. ${MemoryText.description ?? ''}`,
    }),
    type: Type.Optional(
      Type.String({ minLength: 1, maxLength: TYPE_CHARS, default: STORED_TYPE, description: 'A type of your choice.' }),
    ),
    importance: Type.Optional(Type.Number({ minimum: 0, maximum: 1, default: CONFIRMED_IMPORTANCE })),
    turnId: Type.Optional(Type.String({ description: 'The turn in which the memory was stored.' })),
    player: PlayerSchema,
  }),
);
const ConfirmedMemory = named(
  'ConfirmedMemory',
  Type.Intersect([
    MemoryItem,
    Type.Object({
      retracted: Type.Optional(
        Type.Literal(true, { description: 'The memory had already been retracted, so nothing was stored.' }),
      ),
    }),
  ]),
);
const ClearedMemories = named(
  'ClearedMemories',
  Type.Object({
    clearStatus: Type.Literal('cleared'),
    clearCount: Type.Integer({ description: 'How many memories were cleared.' }),
    clearTimestamp: Type.String({ format: 'date-time' }),
  }),
);
const StoreAgentMemoryRequest = named(
  'StoreAgentMemoryRequest',
  Type.Object({
    text: MemoryText,
    type: Type.Optional(
      Type.Unsafe<(typeof types)[number]>({ type: 'string', enum: [...types], default: STORED_TYPE }),
    ),
    metadata: Type.Optional(
      Type.Unsafe<JsonObject>({
        ...FreeObject,
        description: `Anything, in at most ${String(METADATA_BYTES)} bytes of JSON, also in compatibility form (NFKC).`,
      }),
    ),
    player: PlayerSchema,
  }),
);

/** @throws Error when the event stored none, which no caller passes */
const rowOf = (event: StreamEvent): MemoryRow => {
  const row = memoryRow(event);
  if (row === null) throw new Error(`The event ${event.id} stored no memory.`);
  return row;
};

/** `POST /npcs/{npcId}/memory`, `DELETE /npcs/{npcId}/memory/clear`, `POST /v1/agents/{agentId}/memory`. */
export const memoryWriteRoutes = ({
  ports,
  writers,
  turnDeadlineMs,
  turnIndex,
}: MemoryRouteDeps & {
  readonly turnDeadlineMs: number;
  readonly turnIndex: Pick<TurnIndex, 'note'>;
}): readonly RouteDefinition[] => {
  const deps = { ...ports, writers };
  return [
    route('POST', '/npcs/:npcId/memory', {
      ...common,
      operationId: 'confirmMemory',
      summary: 'Confirm a memory, or store a new one',
      description:
        'Confirms a memory that the mind has stored, so that it is not stored twice. It is found by `turnId` together with an `observation` or the `text` of one of the memories of that turn, or by the text of a memory that was stored within the turn deadline. Anything else is stored as a new memory. A retracted memory stays retracted: the response has `retracted: true`.',
      params: NpcParams,
      writesTo: mindStream,
      body: ConfirmMemoryRequest,
      example: examples.confirm,
      refuses: ['CONFLICT', 'EVENTS_TOO_LARGE'],
      reads: [PLAYER_HEADER],
      sends: ['Anima-Revision'],
      responses: ok('The memory.', ConfirmedMemory, examples.confirmed),
      handler: async (call) => {
        const { observation, type = STORED_TYPE, importance = CONFIRMED_IMPORTANCE, turnId } = call.body;
        const text = observation ?? call.body.text;
        if (text === undefined) {
          throw new Rejection('SCHEMA_INVALID', {
            details: {
              issues: [{ in: 'body', pointer: '/observation', message: 'is missing; send observation or text' }],
            },
          });
        }
        const verbatim = observation === undefined;
        const asked = {
          text,
          type,
          importance,
          verbatim,
          ...defined({ turnId, player: speakerOf(call) }),
          withinMs: turnDeadlineMs,
        };
        const { stored, retracted, revision, position } = await confirm(deps, mindStream(call), asked, contextOf(call));
        return {
          revision,
          position,
          body: {
            ...itemOf({ ...rowOf(stored), ...(retracted ? {} : { confirmedAt: revision }) }, { similarity: 1 }),
            ...(retracted ? { retracted } : {}),
          },
        };
      },
    }),
    route('DELETE', '/npcs/:npcId/memory/clear', {
      ...common,
      operationId: 'clearMemories',
      summary: 'Clear all memories of an NPC',
      description:
        'They disappear from lists and recall immediately. The history keeps who cleared them and when, and lists with an earlier `asOf` still show them.',
      params: NpcParams,
      refuses: ['CONFLICT'],
      sends: ['Anima-Revision'],
      responses: ok('The memories are cleared; there may have been none.', ClearedMemories, examples.cleared),
      handler: async (call) => {
        const { events, revision, position } = await runCommand(
          deps,
          mindStream(call),
          mindFold,
          contextOf(call),
          clearMemories,
        );
        turnIndex.note(mindStream(call), events);
        const [cleared] = events;
        return {
          revision,
          position,
          body: {
            clearStatus: 'cleared',
            clearCount: cleared?.data['count'] ?? 0,
            clearTimestamp: cleared?.meta.at ?? ports.clock.now().toISOString(),
          },
        };
      },
    }),
    route('POST', '/v1/agents/:agentId/memory', {
      ...common,
      operationId: 'storeAgentMemory',
      summary: 'Store a memory of an NPC',
      params: AgentParams,
      writesTo: agentStream,
      body: StoreAgentMemoryRequest,
      example: examples.store,
      refuses: ['CONFLICT', 'EVENTS_TOO_LARGE'],
      reads: [PLAYER_HEADER],
      sends: ['Anima-Revision'],
      responses: { 201: { description: 'The memory.', schema: AgentMemory, example: examples.stored } },
      handler: async (call) => {
        const { text, type = STORED_TYPE, metadata } = call.body;
        const player = speakerOf(call);
        const memory = { text, type, importance: CONFIRMED_IMPORTANCE, ...defined({ metadata, player }) };
        await takeRecordable(memory);
        if (metadata !== undefined && !fitsMetadata(metadata)) {
          const message = `must have at most ${String(METADATA_BYTES)} bytes of JSON, also in compatibility form (NFKC)`;
          throw new Rejection('SCHEMA_INVALID', {
            details: { issues: [{ in: 'body', pointer: '/metadata', message }] },
          });
        }
        const by = contextOf(call);
        const commanded = { timeMs: ports.clock.now().getTime(), commandId: by.commandId };
        const { events, revision, position } = await runCommand(deps, agentStream(call), mindFold, by, (mind) =>
          storeMemory(mind, memory, commanded),
        );
        const [stored] = events;
        if (stored === undefined) throw new Error('A memory was stored without an event.');
        return { status: 201, revision, position, body: agentMemoryOf(rowOf(stored)) };
      },
    }),
  ];
};
