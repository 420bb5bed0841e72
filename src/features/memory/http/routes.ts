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
import { AgentMemory, Item, memoryFilters, MemoryText } from './schemas.js';
import { minRevision } from '../../../kernel/http/min-revision.js';
import { pageOf, pageQuery } from '../../../kernel/http/page.js';
import { AgentParams, FreeObject, NpcParams } from '../../../kernel/http/schemas.js';

/** How the list is filtered. */
const memoryQuery = {
  ...memoryFilters,
  asOf: Type.Optional(
    Type.String({ description: 'As the memories were: after this revision, or at this RFC 3339 timestamp.' }),
  ),
};

const common = { tag: 'Memory', scope: 'memory' } as const;

type MemoryRouteDeps = { readonly ports: Ports; readonly writers: StreamWriters };

/** `GET /npcs/{npcId}/memory`. */
export const memoryRoutes = ({ ports, writers }: MemoryRouteDeps): readonly RouteDefinition[] => [
  route('GET', '/npcs/:npcId/memory', {
    ...common,
    operationId: 'listMemories',
    summary: "An NPC's memories, oldest first",
    description:
      'Of an NPC that nobody knows, and of an archived one without `asOf`, the list is empty. Cleared memories are listed only as of a moment before the clear. Retracted ones are, as of a moment before they were. With `minImportance`, and where some were retracted, one answer looks at 20,000 memories at most; `Link` says where to go on.',
    params: NpcParams,
    query: Type.Object({ ...pageQuery, ...memoryQuery }),
    responses: { 200: { description: 'The memories.', schema: Type.Array(Item), stream: 'finite' } },
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

/** The longest word for a type of memory that a client makes up, in characters. */
const TYPE_CHARS = 64;
/** The types of the agent family. */
const types = ['observation', 'experience', 'knowledge', 'emotion'] as const;

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
}: MemoryRouteDeps & { readonly turnDeadlineMs: number }): readonly RouteDefinition[] => {
  const deps = { ...ports, writers };
  return [
    route('POST', '/npcs/:npcId/memory', {
      ...common,
      operationId: 'confirmMemory',
      summary: 'Confirm that a memory is kept, or store a new one',
      description:
        'With the `turnId` of a turn that stored memories and an `observation` or the `text` of one of them, or with the text of a memory that was stored within the turn deadline, that memory is marked `confirmed` and nothing is stored twice. Anything else stores a new memory. One that was retracted stays so: the answer says `retracted: true`, and nothing is stored. `observation` wins over `text`.',
      params: NpcParams,
      writesTo: mindStream,
      body: Type.Object({
        observation: Type.Optional(MemoryText),
        text: Type.Optional(MemoryText),
        type: Type.Optional(Type.String({ minLength: 1, maxLength: TYPE_CHARS, default: STORED_TYPE })),
        importance: Type.Optional(Type.Number({ minimum: 0, maximum: 1, default: CONFIRMED_IMPORTANCE })),
        turnId: Type.Optional(Type.String({ description: 'The turn that the memory was part of.' })),
      }),
      responses: ok('The memory.', Item),
      handler: async (call) => {
        const { observation, type = STORED_TYPE, importance = CONFIRMED_IMPORTANCE, turnId } = call.body;
        const text = observation ?? call.body.text;
        if (text === undefined) {
          throw new Rejection('SCHEMA_INVALID', {
            details: {
              issues: [{ in: 'body', pointer: '/observation', message: 'is missing; give observation or text' }],
            },
          });
        }
        const verbatim = observation === undefined;
        const asked = { text, type, importance, verbatim, ...defined({ turnId }), withinMs: turnDeadlineMs };
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
        'They leave lists and recall at once. The history still says that they were cleared, by whom and when, and `asOf` a moment before still shows them.',
      params: NpcParams,
      responses: ok(
        'Cleared, also if there were none.',
        Type.Object({
          clearStatus: Type.Literal('cleared'),
          clearCount: Type.Integer({ description: 'How many memories it took away.' }),
          clearTimestamp: Type.String({ format: 'date-time' }),
        }),
      ),
      handler: async (call) => {
        const { events, revision, position } = await runCommand(
          deps,
          mindStream(call),
          mindFold,
          contextOf(call),
          clearMemories,
        );
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
      summary: 'Store a memory of an agent',
      params: AgentParams,
      writesTo: agentStream,
      body: Type.Object({
        text: MemoryText,
        type: Type.Optional(
          Type.Unsafe<(typeof types)[number]>({ type: 'string', enum: [...types], default: STORED_TYPE }),
        ),
        metadata: Type.Optional(
          Type.Unsafe<JsonObject>({
            ...FreeObject,
            description: `Anything; at most ${String(METADATA_BYTES)} bytes of JSON, also in compatibility form (NFKC).`,
          }),
        ),
      }),
      responses: { 201: { description: 'The memory.', schema: AgentMemory } },
      handler: async (call) => {
        const { text, type = STORED_TYPE, metadata } = call.body;
        const memory = { text, type, importance: CONFIRMED_IMPORTANCE, ...defined({ metadata }) };
        await takeRecordable(memory);
        if (metadata !== undefined && !fitsMetadata(metadata)) {
          const message = `must not have more than ${String(METADATA_BYTES)} bytes of JSON, also in compatibility form (NFKC)`;
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
