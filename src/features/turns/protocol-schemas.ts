import { type TObject, type TSchema, Type } from '@sinclair/typebox';

import type { JsonObject } from '../../kernel/base/json.js';
import { partOrigins } from './domain/decision/prompt-parts.js';
import { YIELDING } from './domain/decision/shown-parts.js';
import { named } from '../../kernel/http/named.js';
import { AnyJson, FreeObject, oneOf, openObject } from '../../kernel/http/schemas.js';
import { bodies, PlayerSchema } from './body-schemas.js';

/** The schemas of the protocol's responses, and the documentation of its requests. Nothing here validates a request. */

const text = (description: string) => Type.String({ description });
const orNull = <Schema extends TSchema>(schema: Schema, description = '') =>
  Type.Union([schema, Type.Null()], description === '' ? {} : { description });
const object = (description: string) => Type.Unsafe<JsonObject>({ ...FreeObject, description });

export const ActionSchema = named(
  'Action',
  openObject({
    type: text('A word in UPPER_SNAKE_CASE, such as `SPEAK` or `MOVE`.'),
    target: Type.Optional(text('The target of the action.')),
    reason: Type.Optional(Type.String()),
    confidence: Type.Optional(Type.Number()),
    payload: Type.Optional(AnyJson),
    signature: Type.Optional(Type.String()),
  }),
);

/** The result of one rule of the world. */
export const BridgeCheckSchema = named(
  'BridgeCheck',
  Type.Object({
    brRuleId: Type.String(),
    passed: Type.Boolean(),
    code: Type.Optional(Type.String()),
    reason: Type.Optional(Type.String()),
    details: Type.Optional(FreeObject),
  }),
);

export const MemoryDraftSchema = named(
  'MemoryDraft',
  Type.Object({ text: Type.String(), type: Type.String(), importance: Type.Number() }),
);

export const RecalledMemorySchema = named(
  'RecalledMemory',
  Type.Object({
    text: Type.String(),
    type: Type.String(),
    importance: Type.Number(),
    similarity: Type.Number(),
    memoryId: Type.Optional(text('Only if this server recalled it, or the body sent its id back.')),
    revision: Type.Optional(Type.Integer({ description: 'The revision that stored it.' })),
    scoreParts: Type.Optional(
      Type.Record(Type.String(), Type.Number(), { description: 'The parts of its similarity.' }),
    ),
  }),
);

/** The actor as it was recorded. */
const RecordedActor = named(
  'RecordedActor',
  Type.Object({ npcId: Type.String(), persona: orNull(Type.String()), data: FreeObject }),
);

export const ConstraintsSchema = named(
  'Constraints',
  openObject({ maxTokens: Type.Integer(), temperature: Type.Number() }),
);

/** The additional members of a refused verdict. */
const refusal = {
  refusedAction: Type.Optional(orNull(ActionSchema, 'The action that was refused. Only if `valid` is false.')),
  code: Type.Optional(text('Why it was refused, such as `RULE_REFUSED`. Only if `valid` is false.')),
  reason: Type.Optional(
    text(
      'Why it was refused, if rules of grammar 2 decided; `dialogue` is what the player hears. Only if `valid` is false.',
    ),
  ),
  details: Type.Optional(object('The details of the refusal, as errors have them. Only if `valid` is false.')),
};
const decided = {
  valid: Type.Boolean({ description: 'Whether the action is allowed.' }),
  signature: orNull(Type.String(), 'A compact JWS; null if `valid` is false.'),
  memoryStore: Type.Array(MemoryDraftSchema, { description: 'What the NPC remembers of this turn.' }),
  action: orNull(ActionSchema),
  dialogue: Type.String({ description: 'What the NPC says.' }),
};

/** The members of a verdict; the turn's views add to them. */
export const verdictMembers = {
  ...decided,
  stateDelta: object("A merge patch (RFC 7396) of the NPC's data."),
  ...refusal,
};

export const RecallQuerySchema = named(
  'RecallQuery',
  Type.Object({
    query: text('What to recall.'),
    limit: Type.Integer({ description: 'The maximum number of memories to recall.' }),
    threshold: Type.Number({ description: 'The lowest similarity, from 0 to 1.' }),
  }),
);

export const ChatMessageSchema = named('ChatMessage', Type.Object({ role: Type.String(), content: Type.String() }));

const literal = <Word extends string>(type: Word) => ({ type: Type.Literal(type) });

/** The instructions, by type. */
const instructions = {
  IdentifyActor: Type.Object(literal('IdentifyActor'), {
    description: 'Say who acts: answer with `IdentifyActorResult`.',
  }),
  QueryVector: Type.Object(
    { ...literal('QueryVector'), ...RecallQuerySchema.properties },
    { description: 'Search your memory: answer with `QueryVectorResult`.' },
  ),
  ExecuteInference: Type.Object(
    {
      ...literal('ExecuteInference'),
      prompt: Type.String(),
      constraints: ConstraintsSchema,
      messages: Type.Optional(
        Type.Array(ChatMessageSchema, { description: 'The prompt as messages, in turns that this server plays.' }),
      ),
    },
    { description: 'Run your language model: answer with `ExecuteInferenceResult`.' },
  ),
  Finalize: Type.Object(
    {
      ...literal('Finalize'),
      ...decided,
      stateTransform: object("A merge patch (RFC 7396) of the NPC's data."),
      ...refusal,
    },
    { description: 'The verdict. The turn has ended.' },
  ),
} as const;

/** One schema for each type, distinguished by `type`. */
const unionOf = (schemas: Readonly<Record<string, TSchema>>, description: string): TSchema =>
  Type.Unsafe({
    description,
    oneOf: Object.entries(schemas).map(([type, schema]) => named(type, schema)),
    discriminator: {
      propertyName: 'type',
      mapping: Object.fromEntries(Object.keys(schemas).map((type) => [type, `#/components/schemas/${type}`])),
    },
  });

export const InstructionSchema = named('Instruction', unionOf(instructions, 'What the body does next.'));

const typed = (type: string, body: TObject): TObject => Type.Object({ ...literal(type), ...body.properties });

/** The results that the server knows, as requests contain them. */
export const KnownResultSchema = named(
  'Result',
  unionOf(
    Object.fromEntries(Object.entries(bodies).map(([type, body]) => [type, typed(type, body)])),
    'What the body did.',
  ),
);

/** A result of an unknown type is recorded, and does not cause a refusal. */
export const OtherResultSchema = named(
  'OtherResult',
  Type.Unsafe({
    type: 'object',
    required: ['type'],
    additionalProperties: true,
    properties: { type: { type: 'string', not: { enum: Object.keys(bodies) } } },
    description: 'A result of another type. The server records the mismatch, and repeats its instruction.',
  }),
);

/** The results of a recorded turn. */
export const RecordedResultSchema = named(
  'RecordedResult',
  Type.Unsafe({
    oneOf: [
      named('RecordedActorResult', Type.Object({ ...literal('IdentifyActorResult'), actor: RecordedActor })),
      named(
        'RecordedMemoriesResult',
        Type.Object({ ...literal('QueryVectorResult'), memories: Type.Array(RecalledMemorySchema) }),
      ),
      named(
        'RecordedInferenceResult',
        Type.Object({ ...literal('ExecuteInferenceResult'), generatedOutput: Type.String() }),
      ),
    ],
    discriminator: {
      propertyName: 'type',
      mapping: {
        IdentifyActorResult: '#/components/schemas/RecordedActorResult',
        QueryVectorResult: '#/components/schemas/RecordedMemoriesResult',
        ExecuteInferenceResult: '#/components/schemas/RecordedInferenceResult',
      },
    },
  }),
);

/** The tape in a response: unknown members are returned as they were sent. */
export const RecordedTapeSchema = named(
  'RecordedTape',
  Type.Object(
    {
      turnId: Type.String(),
      observation: Type.String(),
      context: AnyJson,
      npcState: FreeObject,
      persona: Type.Optional(Type.String()),
      player: PlayerSchema,
      actor: Type.Optional(RecordedActor),
      memories: Type.Array(RecalledMemorySchema),
      vectorQueried: Type.Boolean(),
      prompt: Type.Optional(Type.String()),
      constraints: Type.Optional(ConstraintsSchema),
      generatedOutput: Type.Optional(Type.String()),
      rulesetId: Type.Optional(Type.String()),
    },
    {
      additionalProperties: true,
      description: 'The tape with everything that is recorded of the turn. Send it with your next step.',
    },
  ),
);

/** The ruleset that decided, as a record names it. */
export const RulesetRefSchema = named(
  'RulesetRef',
  Type.Object({
    rulesetId: Type.String(),
    version: Type.Integer({ description: '0: a built-in preset that nobody registered.' }),
    digest: Type.Optional(Type.String({ description: 'The SHA-256 of its JCS form, base64url.' })),
    asked: Type.Optional(Type.String({ description: 'The set that the request named, if this one decided instead.' })),
  }),
);

/** What a shortened prompt leaves out. */
export const LeftOutSchema = named(
  'LeftOutPart',
  Type.Object({
    from: oneOf(YIELDING),
    count: Type.Integer({ description: 'How many memories, exchanges, or members of the state or the context.' }),
    inPart: Type.Boolean({ description: 'Whether a part of each is shown.' }),
    names: Type.Optional(Type.Array(Type.String(), { description: 'Of the members, at most 20.' })),
  }),
);

/** A part of a prompt. */
export const PromptPartSchema = named(
  'PromptPart',
  Type.Object({
    text: Type.String(),
    from: oneOf(partOrigins),
    ref: Type.Optional(
      Type.String({ description: 'The id of the memory, turn, rule or action that the part comes from.' }),
    ),
  }),
);
