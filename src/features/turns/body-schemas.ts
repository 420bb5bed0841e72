import { type Static, Type } from '@sinclair/typebox';

import type { Actor, RecalledMemory } from '../npcs/domain/events.js';
import { isMemoryId } from '../npcs/domain/memory-id.js';
import type { TapeResult, Tape } from './domain/tape.js';
import { isClientId } from '../../kernel/base/client-id.js';
import type { Json, JsonObject } from '../../kernel/base/json.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { isAlike } from '../../kernel/base/alike.js';
import { documentedAs, named } from '../../kernel/http/named.js';
import { AnyJson, FreeObject, nullable, oneOf } from '../../kernel/http/schemas.js';
import { defined } from '../../kernel/base/defined.js';

const Actor = named(
  'Actor',
  Type.Object(
    { npcId: Type.String(), persona: nullable(Type.String()), data: nullable(FreeObject) },
    { description: 'The NPC that the body plays.' },
  ),
);
const Memory = named(
  'ReportedMemory',
  Type.Object({
    text: Type.String(),
    type: nullable(Type.String()),
    importance: nullable(Type.Number()),
    similarity: nullable(Type.Number()),
    memoryId: Type.Optional(
      Type.Unsafe<Json>({
        ...AnyJson,
        description: 'Of a memory that this server gave the body; `id` means the same.',
      }),
    ),
  }),
);
const Memories = Type.Array(Memory, { maxItems: 1_000 });

const Player = named(
  'Player',
  Type.Object(
    { id: Type.String({ maxLength: 256 }), name: Type.Optional(Type.String({ maxLength: 256 })) },
    { description: 'The player who speaks.' },
  ),
);
/** Who speaks. A player that cannot be read is a stranger, and never refused. */
export const PlayerSchema = Type.Optional(documentedAs(nullable(Player), AnyJson));

/** A player as recorded. */
export const SpeakerSchema = named(
  'Speaker',
  Type.Object(
    { id: Type.String(), name: Type.Optional(Type.String()), from: oneOf(['token', 'body', 'header', 'context']) },
    { description: 'The player who spoke, and where the request named them.' },
  ),
);

/** The tape in a request; members that are not named here are kept and returned. */
export const TapeSchema = named(
  'Tape',
  Type.Object(
    {
      observation: Type.String({ description: 'What the NPC perceives.' }),
      context: Type.Optional(AnyJson),
      npcState: nullable(FreeObject),
      persona: nullable(Type.String()),
      player: PlayerSchema,
      actor: nullable(Actor),
      memories: nullable(Memories),
      prompt: Type.Optional(AnyJson),
      constraints: Type.Optional(AnyJson),
      generatedOutput: nullable(Type.String()),
      rulesetId: nullable(
        Type.String({ description: "The ruleset to apply; by default, the tenant's default ruleset." }),
      ),
      vectorQueried: nullable(Type.Boolean({ description: 'Whether `memories` are the result of `QueryVector`.' })),
      turnId: nullable(Type.String({ description: 'Absent when the turn opens.' })),
    },
    {
      additionalProperties: true,
      description: 'The tape of the last response, or the first tape again.',
    },
  ),
);

/** The body of each type of result. */
export const bodies = {
  IdentifyActorResult: Type.Object({ actor: Actor }),
  QueryVectorResult: Type.Object({ memories: Memories }),
  ExecuteInferenceResult: Type.Object({ generatedOutput: Type.String() }),
} as const;

/** A result of a known type must have the body of that type. A result of another type is a misfit, not an error. */
export const ResultSchema = Type.Unsafe<{ readonly type: string } & Readonly<Record<string, unknown>>>({
  type: 'object',
  required: ['type'],
  properties: { type: { type: 'string', description: Object.keys(bodies).join(', ') } },
  allOf: Object.entries(bodies).map(([type, body]) => ({
    if: { required: ['type'], properties: { type: { const: type } } },
    then: body,
  })),
});

/** The tape's player is returned as the client sent it. */
const ours: ReadonlySet<string> = new Set(Object.keys(TapeSchema.properties).filter((name) => name !== 'player'));

const actorOf = (actor: Static<typeof Actor>): Actor => ({
  npcId: actor.npcId,
  persona: actor.persona ?? null,
  data: actor.data ?? {},
});

/** Memories from a request, with defaults for the members that a client omitted. */
export const memoriesOf = (memories: Static<typeof Memories>): readonly RecalledMemory[] =>
  memories.map(({ text, type, importance, similarity, ...more }) => ({
    text,
    type: type ?? 'observation',
    importance: importance ?? 0.5,
    similarity: similarity ?? 0,
    ...defined({ memoryId: memoryIdIn(more) }),
  }));

/** The id of a memory that a body sends back as the server listed it. Ids that this server does not make belong to the body. */
const memoryIdIn = ({ memoryId, id }: { readonly memoryId?: Json; readonly id?: Json }): string | undefined =>
  [memoryId, id].find((given): given is string => typeof given === 'string' && isMemoryId(given));

/** The ruleset that a request names; an empty name means none. @throws Rejection ID_INVALID */
export const rulesetIdOf = (rulesetId: string | null | undefined): string | undefined => {
  if (rulesetId === null || rulesetId === undefined || rulesetId === '') return undefined;
  if (!isClientId(rulesetId)) throw new Rejection('ID_INVALID', { details: { member: 'rulesetId' } });
  return rulesetId;
};

export const tapeOf = (body: Static<typeof TapeSchema>): Tape => {
  const rulesetId = rulesetIdOf(body.rulesetId);
  return {
    // An id that this server cannot have issued is treated as unknown, like a missing one.
    ...(typeof body.turnId === 'string' && /^[A-Za-z0-9_-]{1,128}$/.test(body.turnId) ? { turnId: body.turnId } : {}),
    observation: body.observation,
    context: body.context ?? {},
    npcState: body.npcState ?? {},
    ...(typeof body.persona === 'string' ? { persona: body.persona } : {}),
    ...defined({ actor: body.actor ? actorOf(body.actor) : undefined }),
    memories: memoriesOf(body.memories ?? []),
    vectorQueried: body.vectorQueried ?? false,
    ...(typeof body.generatedOutput === 'string' ? { generatedOutput: body.generatedOutput } : {}),
    ...defined({ rulesetId }),
    extra: Object.fromEntries(Object.entries(body as JsonObject).filter(([name]) => !ours.has(name))),
  };
};

/** The known type that resembles the unknown type of a result. */
export const meantType = (body: Static<typeof ResultSchema> | null | undefined): string | undefined => {
  const { type = '' } = body ?? {};
  return Object.hasOwn(bodies, type) ? undefined : Object.keys(bodies).find((known) => isAlike(type, known));
};

/** Converts a validated result. */
export const resultOf = (body: Static<typeof ResultSchema> | null | undefined): TapeResult | 'unknown' | null => {
  if (body === null || body === undefined) return null;
  const result = body as unknown as {
    type: string;
    actor: Static<typeof Actor>;
    memories: Static<typeof Memories>;
    generatedOutput: string;
  };
  switch (result.type) {
    case 'IdentifyActorResult':
      return { type: result.type, actor: actorOf(result.actor) };
    case 'QueryVectorResult':
      return { type: result.type, memories: memoriesOf(result.memories) };
    case 'ExecuteInferenceResult':
      return { type: result.type, generatedOutput: result.generatedOutput };
    default:
      return 'unknown';
  }
};

export const MemoriesSchema = Memories;
