import { Type } from '@sinclair/typebox';

import { confirm } from '../../app/memory/confirm.js';
import { mindFold } from '../../app/minds/mind.js';
import type { PlacedEvent } from '../../app/streams/fold.js';
import { runCommand } from '../../app/streams/run-command.js';
import { clearMemories, CONFIRMED_IMPORTANCE, STORED_TYPE, storeMemory } from '../../domain/npc/memory-commands.js';
import { METADATA_BYTES, requireRecordable } from '../../domain/npc/recorded-bytes.js';
import { defined } from '../../domain/shared/defined.js';
import { jsonBytes } from '../../domain/shared/json-bytes.js';
import type { JsonObject } from '../../domain/shared/json.js';
import { Rejection } from '../../domain/shared/rejection.js';
import { memoryRow, type MemoryRow } from '../../../projections/memories.js';
import { agentStream, contextOf, mindStream } from '../command-context.js';
import { AgentMemory, agentMemoryOf, Item, itemOf } from '../memory-item.js';
import { ok, route, type RouteDefinition } from '../route.js';
import { AgentParams, FreeObject, MemoryText, NpcParams } from '../schemas.js';
import type { Services } from '../services.js';

/** The longest word for a type of memory that a client makes up, in characters. */
const TYPE_CHARS = 64;
/** The types of the agent family (contract 3.5). */
const types = ['observation', 'experience', 'knowledge', 'emotion'] as const;

/** @throws Error when the event stored none, which no caller passes */
const rowOf = (event: PlacedEvent): MemoryRow => {
  const row = memoryRow(event);
  if (row === null) throw new Error(`The event ${event.id} stored no memory.`);
  return row;
};

/** `POST /npcs/{npcId}/memory`, `DELETE /npcs/{npcId}/memory/clear`, `POST /v1/agents/{agentId}/memory` (contract 3.2, 3.4, 3.5). */
export const memoryWriteRoutes = ({ ports, lanes, turnDeadlineMs }: Services): readonly RouteDefinition[] => {
  const deps = { ...ports, lanes };
  return [
    route({
      operationId: 'confirmMemory',
      method: 'POST',
      path: '/npcs/:npcId/memory',
      tag: 'Memory',
      summary: 'Confirm that a memory is kept, or store a new one',
      description:
        'With the `turnId` of a turn that stored memories, or with the text of a memory that was stored within the turn deadline, that memory is marked `confirmed` and nothing is stored twice. Anything else stores a new memory. One that was retracted stays so: the answer says `retracted: true`, and nothing is stored. `observation` wins over `text`.',
      scope: 'memory',
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
        const asked = { text, type, importance, ...defined({ turnId }), withinMs: turnDeadlineMs };
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
    route({
      operationId: 'clearMemories',
      method: 'DELETE',
      path: '/npcs/:npcId/memory/clear',
      tag: 'Memory',
      summary: 'Clear all memories of an NPC',
      description:
        'They leave lists and recall at once. The history still says that they were cleared, by whom and when, and `asOf` a moment before still shows them.',
      scope: 'memory',
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
    route({
      operationId: 'storeAgentMemory',
      method: 'POST',
      path: '/v1/agents/:agentId/memory',
      tag: 'Memory',
      summary: 'Store a memory of an agent',
      scope: 'memory',
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
            description: `Anything; at most ${String(METADATA_BYTES)} bytes of JSON.`,
          }),
        ),
      }),
      responses: { 201: { description: 'The memory.', schema: AgentMemory } },
      handler: async (call) => {
        const { text, type = STORED_TYPE, metadata } = call.body;
        const memory = { text, type, importance: CONFIRMED_IMPORTANCE, ...defined({ metadata }) };
        requireRecordable(memory);
        if (metadata !== undefined && jsonBytes(metadata) > METADATA_BYTES) {
          const message = `must not have more than ${String(METADATA_BYTES)} bytes of JSON`;
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
