import { type Static, type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox';

import type { Action } from '../bridge/action.js';
import type { Json, JsonObject } from '../shared/json.js';
import type { NpcEvent, NpcEventType } from './events.js';

/**
 * The data of a mind's events as JSON Schemas, each in the newest version of its type. They are published (docs/events) and describe what programs of
 * others read. Like the events they are open: a new optional member is no new version (docs/adr/0004).
 */

const object = <Properties extends TProperties>(properties: Properties) =>
  Type.Unsafe<Readonly<Static<TObject<Properties>>>>(Type.Object(properties));
const list = <Item extends TSchema>(item: Item) => Type.Unsafe<readonly Static<Item>[]>(Type.Array(item));
const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const text = (description: string) => Type.String({ description });

const AnyValue = Type.Unsafe<Json>({ description: 'Any JSON value.' });
const AnyObject = Type.Unsafe<JsonObject>({ type: 'object' });
const ActionTaken = Type.Unsafe<Action>(
  Type.Object({
    type: text('An upper-snake word such as MOVE.'),
    target: Type.Optional(Type.String()),
    reason: Type.Optional(Type.String()),
    confidence: Type.Optional(Type.Number()),
    payload: Type.Optional(AnyValue),
    signature: Type.Optional(Type.String()),
  }),
);
const ActorGiven = object({ npcId: Type.String(), persona: orNull(Type.String()), data: AnyObject });
const RulesetUsed = orNull(object({ rulesetId: Type.String(), version: Type.Integer() }));
const Draft = object({ text: Type.String(), type: Type.String(), importance: Type.Number() });
const Recalled = list(
  object({
    text: Type.String(),
    type: Type.String(),
    importance: Type.Number(),
    similarity: Type.Number(),
    memoryId: Type.Optional(text('Of a memory that this server recalled.')),
    revision: Type.Optional(Type.Integer({ description: 'The revision that stored it.' })),
    scoreParts: Type.Optional(
      Type.Unsafe<Readonly<Record<string, number>>>(
        Type.Record(Type.String(), Type.Number(), { description: 'What its score was made from.' }),
      ),
    ),
  }),
);
const recall = { query: Type.String(), limit: Type.Integer(), threshold: Type.Number() };
const InstructionGiven = Type.Union([
  object({ type: Type.Literal('IdentifyActor') }),
  object({ type: Type.Literal('QueryVector'), ...recall }),
  object({ type: Type.Literal('ExecuteInference'), prompt: Type.String(), constraints: AnyObject }),
]);

const turn = { turnId: text('The turn to which the event belongs.') };
const soul = { soulId: text('The soul to which the event belongs.') };
const ofImport = { importId: text('The import, whose events stand in a stream of its own.') };
const basis = {
  mindRevision: Type.Integer({ description: 'The revision of the mind that the decision saw; -1: nothing yet.' }),
  logic: Type.Integer({ description: 'The number of the logic that decided.' }),
};
const ofActor = {
  actorDataKept: Type.Optional(Type.Literal(false, { description: 'The actor’s data is used by this turn alone.' })),
};
const onPatterns = { patternsHeld: Type.Optional(list(text('A rule whose pattern matches the observation.'))) };
const trace = {
  rules: list(
    object({
      drRuleId: Type.String(),
      matched: Type.Boolean(),
      conditions: Type.Optional(list(object({ key: Type.String(), expected: Type.String(), holds: Type.Boolean() }))),
      patternHolds: Type.Optional(Type.Boolean()),
    }),
  ),
  seen: list(object({ key: Type.String(), value: AnyValue, shortened: Type.Optional(Type.Literal(true)) })),
  seenLeftOut: Type.Optional(Type.Integer()),
};
const Grounds = object({
  ...trace,
  checks: list(
    object({
      brRuleId: Type.String(),
      passed: Type.Boolean(),
      code: Type.Optional(Type.String()),
      reason: Type.Optional(Type.String()),
      details: Type.Optional(AnyObject),
    }),
  ),
});
const Decided = object({
  valid: Type.Boolean(),
  dialogue: Type.String(),
  action: orNull(ActionTaken),
  stateDelta: AnyObject,
  memoryStore: list(Draft),
  refusedAction: Type.Optional(orNull(ActionTaken)),
  code: Type.Optional(Type.String()),
  details: Type.Optional(AnyObject),
});
const verdict = {
  generatedOutput: text('The text of the model.'),
  cortexId: Type.Optional(text('The engine of the server that made the text.')),
  verdict: Decided,
  grounds: Grounds,
  asked: Type.Optional(
    object({ ...onPatterns, observation: Type.String(), npcState: AnyObject, ruleset: RulesetUsed }),
  ),
};
const mind = {
  persona: Type.Optional(Type.String()),
  data: Type.Optional(AnyObject),
  card: Type.Optional(object({ digest: text('Base64url SHA-256 of its JCS form.'), content: AnyObject })),
};

/** Object types without the seams of intersections, so that equal shapes are equal types. What takes any JSON is left as it is. */
type Plain<T> = [Json] extends [T]
  ? T
  : T extends readonly (infer Item)[]
    ? readonly Plain<Item>[]
    : T extends object
      ? string extends keyof T
        ? T
        : { readonly [Name in keyof T]: Plain<T[Name]> }
      : T;
type Same<Left, Right> = (<T>() => T extends Left ? 1 : 2) extends <T>() => T extends Right ? 1 : 2 ? true : false;
type DataOf<Type extends NpcEventType> = Extract<NpcEvent, { type: Type }>['data'];
type Schemas = Readonly<Record<NpcEventType, TSchema>>;

/** Takes only schemas that say exactly what the types of the events say. Another does not compile. */
const exactly = <Given extends Schemas>(
  schemas: Given & {
    readonly [Type in NpcEventType]: Same<Plain<Static<Given[Type]>>, Plain<DataOf<Type>>> extends true
      ? TSchema
      : never;
  },
): Schemas => schemas;

export const npcEventSchemas: Schemas = exactly({
  NpcRegistered: object(mind),
  NpcUpdated: object(mind),
  NpcArchived: Type.Unsafe<Record<string, never>>(Type.Object({})),
  TurnOpened: object({
    ...turn,
    ...basis,
    ...ofActor,
    ...onPatterns,
    observation: Type.String(),
    context: AnyValue,
    npcState: AnyObject,
    persona: Type.Optional(Type.String()),
    actor: Type.Optional(ActorGiven),
    memories: Type.Optional(Recalled),
    ruleset: RulesetUsed,
    resumedFrom: Type.Optional(text('The lost turn that this one resumes.')),
    agent: Type.Optional(Type.Literal(true, { description: 'The turn runs on the server, without a body.' })),
    deadlineAt: text('RFC 3339, UTC.'),
    instruction: InstructionGiven,
  }),
  RulesetMissing: object({ ...turn, rulesetId: Type.String() }),
  ActorIdentified: object({ ...turn, ...basis, ...ofActor, actor: ActorGiven, instruction: InstructionGiven }),
  MemoriesRecalled: object({ ...turn, ...basis, memories: Recalled, instruction: InstructionGiven }),
  VerdictReached: object({
    ...turn,
    ...basis,
    ...verdict,
    kid: Type.Optional(text('The public key that checks the signature, in /.well-known/jwks.json.')),
    iss: Type.Optional(text('Who signed.')),
  }),
  VerdictRefused: object({ ...turn, ...basis, ...verdict }),
  StateChanged: object({
    ...turn,
    patch: Type.Unsafe<JsonObject>({ type: 'object', description: 'A merge patch (RFC 7396) of the mind’s data.' }),
  }),
  MemoryStored: object({
    turnId: Type.Optional(turn.turnId),
    memoryId: Type.String(),
    text: Type.String(),
    type: Type.String(),
    importance: Type.Number(),
    metadata: Type.Optional(AnyObject),
  }),
  MemoryConfirmed: object({ memoryId: Type.String() }),
  RecallReported: object({
    query: Type.String(),
    similarity: Type.Optional(Type.Number()),
    limit: Type.Optional(Type.Integer()),
    type: Type.Optional(Type.String()),
    minImportance: Type.Optional(Type.Number()),
    memories: Recalled,
  }),
  MemoriesCleared: object({ count: Type.Integer({ description: 'How many memories it took away.' }) }),
  MemoriesRetracted: object({
    memoryIds: list(Type.String()),
    reason: text('Why, in the words of whoever did it.'),
    roots: Type.Optional(list(Type.String())),
  }),
  TurnExpired: object(turn),
  TapeMismatchNoticed: object({
    ...turn,
    round: Type.Integer(),
    members: list(object({ member: Type.String(), recorded: AnyValue, received: AnyValue })),
  }),
  DirectiveGiven: object({
    ...turn,
    ...basis,
    ...onPatterns,
    ...trace,
    observation: Type.String(),
    context: AnyValue,
    npcState: AnyObject,
    ruleset: RulesetUsed,
    memoryRecall: object(recall),
  }),
  ContextBuilt: object({
    ...turn,
    ...basis,
    ...onPatterns,
    ...trace,
    observation: Type.String(),
    npcState: AnyObject,
    persona: Type.Optional(Type.String()),
    memories: Recalled,
    ruleset: RulesetUsed,
    prompt: Type.String(),
    constraints: AnyObject,
    ctxMessages: orNull(list(object({ role: Type.String(), content: Type.String() }))),
  }),
  BridgeChecked: object({
    ...basis,
    ...onPatterns,
    action: AnyValue,
    context: AnyValue,
    ruleset: RulesetUsed,
    valid: Type.Boolean(),
    reason: orNull(Type.String()),
    correctedAction: orNull(ActionTaken),
    code: orNull(Type.String()),
    details: AnyObject,
  }),
  SoulExportRequested: object({
    ...soul,
    npcState: AnyObject,
    persona: Type.Optional(Type.String()),
    includeMemories: Type.Boolean(),
    without: Type.Optional(Type.Array(Type.Literal('players'))),
    uploadedBy: Type.Union([Type.Literal('client'), Type.Literal('server')]),
    storage: Type.Optional(Type.Literal('ipfs', { description: 'The soul is named by its CID.' })),
    format: Type.Optional(Type.Literal('binary', { description: 'What is named is the soul as CBOR.' })),
    deadlineAt: text('RFC 3339, UTC.'),
  }),
  SoulSealed: object({
    ...soul,
    name: text('What lists call it.'),
    digest: text('SHA-256 of the document’s JCS form, base64url.'),
    root: text('The Merkle root over the parts, base64url.'),
    kid: text('The public key that checks the signature, in /.well-known/jwks.json.'),
    mindRevision: Type.Integer({ description: 'The revision of the mind that the soul knows last.' }),
    memories: Type.Integer(),
    bytes: Type.Integer({ description: 'Of the document’s JCS form.' }),
    signature: Type.Optional(text('That of the document: a compact JWS.')),
  }),
  SoulExported: object({ ...soul, txId: Type.String(), url: text('Where the soul can be read.') }),
  SoulExportFailed: object({
    ...soul,
    code: Type.String(),
    reason: Type.String(),
    details: Type.Optional(AnyObject),
  }),
  SoulExportExpired: object(soul),
  SoulArrivalBegun: object({ ...soul, ...ofImport, memories: Type.Integer() }),
  MemoryArrived: object({
    memoryId: Type.String(),
    text: Type.String(),
    type: Type.String(),
    importance: Type.Number(),
    metadata: Type.Optional(AnyObject),
    storedAt: text('When it was stored first: RFC 3339, UTC.'),
    confirmed: Type.Boolean(),
    source: object({
      ...soul,
      turnId: orNull(Type.String()),
      eventId: text('Of the server that exported the soul.'),
      revision: Type.Integer(),
    }),
  }),
  SoulArrived: object({
    ...soul,
    ...ofImport,
    digest: text('Of the soul document.'),
    copy: Type.Boolean({ description: 'Whether it came in under another npcId than its source has.' }),
    signer: Type.Union([Type.Literal('ours'), Type.Literal('known'), Type.Literal('unknown')]),
    name: Type.String(),
    persona: Type.Optional(Type.String()),
    data: Type.Optional(AnyObject),
    ruleset: orNull(
      object({ rulesetId: Type.String(), version: Type.Integer(), digest: text('The SHA-256 of its JCS form.') }),
    ),
    chain: list(
      object({
        soulId: Type.String(),
        txId: Type.String(),
        issuer: text('The server that exported it.'),
        tenant: Type.String(),
        npcId: Type.String(),
        kid: text('The key that signed it.'),
        root: Type.String(),
        importedAt: text('RFC 3339, UTC.'),
      }),
    ),
  }),
  ChainBreakRecorded: object({
    revision: Type.Integer({ description: 'Of the event that does not fit.' }),
    member: Type.Union([Type.Literal('prevHash'), Type.Literal('hash')]),
    stored: Type.String(),
    computed: Type.String(),
  }),
});
