import { type Static, type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox';

import type { Action } from '../../rules/domain/bridge/action.js';
import type { Json, JsonObject } from '../../../kernel/base/json.js';

/**
 * The events of a mind's stream, by type. Shapes are storage: never changed, only upcast (docs/adr/0004).
 * What a client dropped or left out is absent here, never null, unless null means something.
 *
 * Their data are JSON Schemas, each in the newest version of its type, and the types are read off them. The schemas are published (docs/events) and
 * describe what programs of others read. They are open: a new optional member is no new version. Nothing loads them but what publishes them.
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
export const ActorGiven = object({ npcId: Type.String(), persona: orNull(Type.String()), data: AnyObject });
const Ruleset = object({ rulesetId: Type.String(), version: Type.Integer() });
const RulesetUsed = orNull(Ruleset);
export const Draft = object({ text: Type.String(), type: Type.String(), importance: Type.Number() });
export const RecalledSchema = object({
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
});
const AllRecalled = list(RecalledSchema);
const recall = { query: Type.String(), limit: Type.Integer(), threshold: Type.Number() };
export const InstructionGiven = Type.Union([
  object({ type: Type.Literal('IdentifyActor') }),
  object({ type: Type.Literal('QueryVector'), ...recall }),
  object({ type: Type.Literal('ExecuteInference'), prompt: Type.String(), constraints: AnyObject }),
]);

const turn = { turnId: text('The turn to which the event belongs.') };
const soul = { soulId: text('The soul to which the event belongs.') };
const ofImport = { importId: text('The import, whose events stand in a stream of its own.') };
/** What every event says that a decision made. Replay folds the stream to the revision; docs/adr/0012 says what the logic is. */
const basis = {
  mindRevision: Type.Integer({ description: 'The revision of the mind that the decision saw; -1: nothing yet.' }),
  logic: Type.Integer({ description: 'The number of the logic that decided.' }),
};
/** Present only if an actor's data exceeds the limit of a mind's data. */
const ofActor = {
  actorDataKept: Type.Optional(Type.Literal(false, { description: 'The actor’s data is used by this turn alone.' })),
};
/** Found before anything is decided; decisions and replay read them here. Absent: none. */
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
export const Grounds = object({
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
/** Signed when valid. */
export const Decided = object({
  valid: Type.Boolean(),
  dialogue: Type.String(),
  action: orNull(ActionTaken),
  stateDelta: AnyObject,
  memoryStore: list(Draft),
  // Only when invalid: what was refused, by which code, with which details.
  refusedAction: Type.Optional(orNull(ActionTaken)),
  code: Type.Optional(Type.String()),
  details: Type.Optional(AnyObject),
});
const verdict = {
  generatedOutput: text('The text of the model.'),
  cortexId: Type.Optional(text('The engine of the server that made the text.')),
  verdict: Decided,
  grounds: Grounds,
  // The inputs of a verdict that was asked for outside a process turn.
  asked: Type.Optional(
    object({ ...onPatterns, observation: Type.String(), npcState: AnyObject, ruleset: RulesetUsed }),
  ),
};
export const Source = object({
  ...soul,
  turnId: orNull(Type.String()),
  eventId: text('Of the server that exported the soul.'),
  revision: Type.Integer(),
});
const mind = {
  persona: Type.Optional(Type.String()),
  data: Type.Optional(AnyObject),
  // Only when a character card was imported: the card as it came (contract 8.9).
  card: Type.Optional(object({ digest: text('Base64url SHA-256 of its JCS form.'), content: AnyObject })),
};

/** In the order in which they are published. */
export const npcEventSchemas = {
  NpcRegistered: object(mind),
  // Members given replace whole.
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
    // Only in a resumed turn, whose tape brought them.
    memories: Type.Optional(AllRecalled),
    ruleset: RulesetUsed,
    resumedFrom: Type.Optional(text('The lost turn that this one resumes.')),
    agent: Type.Optional(Type.Literal(true, { description: 'The turn runs on the server, without a body.' })),
    deadlineAt: text('RFC 3339, UTC.'),
    instruction: InstructionGiven,
  }),
  RulesetMissing: object({ ...turn, rulesetId: Type.String() }),
  ActorIdentified: object({ ...turn, ...basis, ...ofActor, actor: ActorGiven, instruction: InstructionGiven }),
  MemoriesRecalled: object({ ...turn, ...basis, memories: AllRecalled, instruction: InstructionGiven }),
  // Ends a turn of kind `process`, or is all of a turn of kind `verdict` (then it brings its own inputs).
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
    // From an agent's client, stored unchanged.
    metadata: Type.Optional(AnyObject),
  }),
  // A body keeps this memory as well.
  MemoryConfirmed: object({ memoryId: Type.String() }),
  // The memories that a body recalled itself, and its query.
  RecallReported: object({
    query: Type.String(),
    similarity: Type.Optional(Type.Number()),
    limit: Type.Optional(Type.Integer()),
    type: Type.Optional(Type.String()),
    minImportance: Type.Optional(Type.Number()),
    memories: AllRecalled,
  }),
  // The memories stored before this event disappear from lists and recall.
  MemoriesCleared: object({ count: Type.Integer({ description: 'How many memories it took away.' }) }),
  // An operator removed these memories from lists, recall, confirms and souls.
  MemoriesRetracted: object({
    memoryIds: list(Type.String()),
    reason: text('Why, in the words of whoever did it.'),
    // Only when what was derived went with them: the ones that were named.
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
    memories: AllRecalled,
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
  // The mind is to leave as a soul (contract 8.1): what its document is made from, besides the events up to this one.
  SoulExportRequested: object({
    ...soul,
    npcState: AnyObject,
    // Counts where none is recorded.
    persona: Type.Optional(Type.String()),
    includeMemories: Type.Boolean(),
    // What the soul leaves out (contract 8.10); absent: nothing.
    without: Type.Optional(list(Type.Literal('players'))),
    // Who brings the soul to an archive: a client, in a second phase, or this server at once.
    uploadedBy: Type.Union([Type.Literal('client'), Type.Literal('server')]),
    // Without these two it is kept in this server's own archive, as JSON.
    storage: Type.Optional(Type.Literal('ipfs', { description: 'The soul is named by its CID.' })),
    format: Type.Optional(Type.Literal('binary', { description: 'What is named is the soul as CBOR.' })),
    deadlineAt: text('RFC 3339, UTC.'),
  }),
  // The document was made and signed; it is kept under its digest (contract 8.7).
  SoulSealed: object({
    ...soul,
    name: text('What lists call it.'),
    digest: text('SHA-256 of the document’s JCS form, base64url.'),
    root: text('The Merkle root over the parts, base64url.'),
    kid: text('The public key that checks the signature, in /.well-known/jwks.json.'),
    mindRevision: Type.Integer({ description: 'The revision of the mind that the soul knows last.' }),
    memories: Type.Integer(),
    bytes: Type.Integer({ description: 'Of the document’s JCS form.' }),
    // So that an answer can name it without reading the document; absent from the oldest events.
    signature: Type.Optional(text('That of the document: a compact JWS.')),
  }),
  // An archive has the soul: the mind has left a copy of itself.
  SoulExported: object({ ...soul, txId: Type.String(), url: text('Where the soul can be read.') }),
  SoulExportFailed: object({
    ...soul,
    code: Type.String(),
    reason: Type.String(),
    details: Type.Optional(AnyObject),
  }),
  SoulExportExpired: object(soul),
  // A soul begins to arrive: what comes after this counts only once `SoulArrived` stands (contract 8.4). Always the stream's first event.
  SoulArrivalBegun: object({ ...soul, ...ofImport, memories: Type.Integer() }),
  // A memory that a soul brought, as it was where it was stored.
  MemoryArrived: object({
    memoryId: Type.String(),
    text: Type.String(),
    type: Type.String(),
    importance: Type.Number(),
    metadata: Type.Optional(AnyObject),
    storedAt: text('When it was stored first: RFC 3339, UTC.'),
    confirmed: Type.Boolean(),
    source: Source,
  }),
  // The whole soul is here: the mind begins with what it brought.
  SoulArrived: object({
    ...soul,
    ...ofImport,
    digest: text('Of the soul document.'),
    copy: Type.Boolean({ description: 'Whether it came in under another npcId than its source has.' }),
    signer: Type.Union([Type.Literal('ours'), Type.Literal('known'), Type.Literal('unknown')]),
    // What lists called it (contract 8.7).
    name: Type.String(),
    // Absent: it had none.
    persona: Type.Optional(Type.String()),
    data: Type.Optional(AnyObject),
    // The rules that it followed there.
    ruleset: orNull(
      object({ rulesetId: Type.String(), version: Type.Integer(), digest: text('The SHA-256 of its JCS form.') }),
    ),
    // The souls that it came from, oldest first; this one is the last.
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
  // An operator looked at a break in this stream's hash chain and acknowledged it. docs/hash-chain.md explains `stored` and `computed`.
  ChainBreakRecorded: object({
    revision: Type.Integer({ description: 'Of the event that does not fit.' }),
    member: Type.Union([Type.Literal('prevHash'), Type.Literal('hash')]),
    stored: Type.String(),
    computed: Type.String(),
  }),
};
