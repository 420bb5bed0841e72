import { type Static, type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox';

import type { Action } from '../../rules/domain/bridge/action.js';
import type { Json, JsonObject } from '../../../kernel/base/json.js';

/**
 * The events of a mind's stream, by type. The shapes are storage: they never change and are only upcast (docs/adr/0004). Members that a client
 * dropped or left out are absent, never null, unless null has a meaning.
 *
 * The data is described by JSON Schemas, each in the newest version of its type, and the types are derived from them. The schemas are published
 * (docs/reference/events) and describe what other programs read. They are open: a new optional member does not make a new version. Only the code that
 * publishes them loads them.
 */

const object = <Properties extends TProperties>(properties: Properties) =>
  Type.Unsafe<Readonly<Static<TObject<Properties>>>>(Type.Object(properties));
/** @param description when the event is recorded, for readers */
const event = <Properties extends TProperties>(description: string, properties: Properties) =>
  Type.Unsafe<Readonly<Static<TObject<Properties>>>>(Type.Object(properties, { description }));
const list = <Item extends TSchema>(item: Item) => Type.Unsafe<readonly Static<Item>[]>(Type.Array(item));
const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const text = (description: string) => Type.String({ description });

const AnyValue = Type.Unsafe<Json>({ description: 'Any JSON value.' });
const AnyObject = Type.Unsafe<JsonObject>({ type: 'object' });
const ActionTaken = Type.Unsafe<Action>(
  Type.Object({
    type: text('A word in UPPER_SNAKE_CASE, such as MOVE.'),
    target: Type.Optional(Type.String()),
    reason: Type.Optional(Type.String()),
    confidence: Type.Optional(Type.Number()),
    payload: Type.Optional(AnyValue),
    signature: Type.Optional(Type.String()),
  }),
);
export const ActorGiven = object({ npcId: Type.String(), persona: orNull(Type.String()), data: AnyObject });
const Ruleset = object({
  rulesetId: Type.String(),
  version: Type.Integer(),
  digest: Type.Optional(text('The SHA-256 of its JCS form, base64url.')),
  asked: Type.Optional(text('The set that the request named, if this one decided instead.')),
});
const RulesetUsed = orNull(Ruleset);
/** The player who speaks, and where the request named them. `context` is what the game writes for its rules: it does not tell players apart. */
export const SpeakerGiven = object({
  id: Type.String(),
  name: Type.Optional(Type.String()),
  from: Type.Union([Type.Literal('token'), Type.Literal('body'), Type.Literal('header'), Type.Literal('context')]),
});
export const Draft = object({ text: Type.String(), type: Type.String(), importance: Type.Number() });
/** What the game's clock showed when a memory was stored. */
const onGameClock = {
  gameTime: Type.Optional(
    Type.Union([Type.Number(), Type.String()], {
      description: 'The time of the game when it was stored: seconds, or RFC 3339. Absent if the game reports none.',
    }),
  ),
};
export const RecalledSchema = object({
  text: Type.String(),
  type: Type.String(),
  importance: Type.Number(),
  similarity: Type.Number(),
  memoryId: Type.Optional(text('Of a memory that this server recalled, or that a body sent back.')),
  revision: Type.Optional(Type.Integer({ description: 'The revision that stored it.' })),
  storedAt: Type.Optional(text('When it was stored: RFC 3339, UTC. Only of a memory that an agent recalled.')),
  ...onGameClock,
  scoreParts: Type.Optional(
    Type.Unsafe<Readonly<Record<string, number>>>(
      Type.Record(Type.String(), Type.Number(), { description: 'The parts of its score.' }),
    ),
  ),
});
const AllRecalled = list(RecalledSchema);
/** How the server recalled. */
export const RecallBasisSchema = object({
  embedder: text('The embedder that compared meanings, with its version or model.'),
  pending: Type.Integer({ description: 'How many memories had no vector yet and were compared by their words.' }),
  byWords: Type.Optional(
    Type.Union([Type.Literal('query'), Type.Literal('memories')], {
      description: 'What has no vector for good: the query, or some memories.',
    }),
  ),
});
const recall = { query: Type.String(), limit: Type.Integer(), threshold: Type.Number() };
/** What was said before, as a turn records it with its opening. */
export const ExchangeSchema = object({
  turnId: text('The turn of this exchange.'),
  heard: text('Its observation, shortened.'),
  answered: Type.Unsafe<JsonObject>({
    type: 'object',
    description: 'Its verdict, shortened: dialogue, action and stateDelta; of a refused one only the dialogue.',
  }),
});
const message = object({ role: Type.String(), content: Type.String() });
export const InstructionGiven = Type.Union([
  object({ type: Type.Literal('IdentifyActor') }),
  object({ type: Type.Literal('QueryVector'), ...recall }),
  object({
    type: Type.Literal('ExecuteInference'),
    prompt: Type.String(),
    constraints: AnyObject,
    // Only in the turn of an agent: the same as messages, with the conversation as messages of its own.
    messages: Type.Optional(list(message)),
  }),
]);

const turn = { turnId: text('The turn to which the event belongs.') };
const soul = { soulId: text('The soul to which the event belongs.') };
const ofImport = { importId: text('The import. Its events are in a separate stream.') };
/** Members of every event that records a decision. Replay folds the stream up to the revision; docs/adr/0012 explains the logic number. */
const basis = {
  mindRevision: Type.Integer({ description: 'The revision of the mind on which the decision is based; -1: none yet.' }),
  logic: Type.Integer({ description: 'The number of the decision logic.' }),
};
/** Present only if an actor's data exceeds the limit of a mind's data. */
const ofActor = {
  actorDataKept: Type.Optional(Type.Literal(false, { description: 'The actor’s data is used by this turn only.' })),
};
/** Determined before the decision; decisions and replay read them here. Absent if there are none. */
const onPatterns = { patternsHeld: Type.Optional(list(text('A rule whose pattern matches the observation.'))) };
const trace = {
  rules: list(
    object({
      drRuleId: Type.String(),
      matched: Type.Boolean(),
      conditions: Type.Optional(
        list(
          object({
            key: Type.String(),
            expected: Type.String(),
            holds: Type.Boolean(),
            error: Type.Optional(text('Why the condition cannot be decided; only in grammar 2.')),
          }),
        ),
      ),
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
  replacedBy: Type.Optional(text('The rule whose action replaced the one of the model.')),
  stateBreaks: Type.Optional(
    list(
      object({
        path: Type.String(),
        onBreak: Type.Union([Type.Literal('leave_out'), Type.Literal('clamp'), Type.Literal('refuse')]),
        reason: Type.String(),
        instead: Type.Optional(Type.Number()),
      }),
    ),
  ),
});
/** Signed if valid. */
export const Decided = object({
  valid: Type.Boolean(),
  dialogue: Type.String(),
  action: orNull(ActionTaken),
  stateDelta: AnyObject,
  memoryStore: list(Draft),
  // Only if invalid: the refused action, the code and the details.
  refusedAction: Type.Optional(orNull(ActionTaken)),
  code: Type.Optional(Type.String()),
  reason: Type.Optional(text('Why it is refused; the dialogue is what the player hears.')),
  details: Type.Optional(AnyObject),
});
const verdict = {
  generatedOutput: text('The text of the model.'),
  cortexId: Type.Optional(text('The engine of the server that made the text.')),
  reasoning: Type.Optional(
    text('What the model thought before it wrote the text, if the engine told it apart; shortened.'),
  ),
  verdict: Decided,
  grounds: Grounds,
  // The inputs of a verdict that was requested outside a process turn.
  asked: Type.Optional(
    object({
      ...onPatterns,
      observation: Type.String(),
      context: Type.Optional(AnyValue),
      npcState: AnyObject,
      player: Type.Optional(SpeakerGiven),
      ruleset: RulesetUsed,
    }),
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
  players: Type.Optional(
    Type.Union([Type.Literal('apart'), Type.Literal('shared')], {
      description: 'Whether what one player told is kept from others; apart if no event says.',
    }),
  ),
  // Only if a character card was imported: the card exactly as it was sent.
  card: Type.Optional(
    object({
      digest: text('Base64url SHA-256 of its JCS form.'),
      content: AnyObject,
      file: Type.Optional(text('Base64url SHA-256 of the imported file. Absent if the file was not kept.')),
    }),
  ),
};

/** In the order in which they are published. */
export const npcEventSchemas = {
  NpcRegistered: event('A client registered the NPC, or imported a character card for a new one.', mind),
  NpcUpdated: event(
    'The persona, the data or the card of the NPC changed; a member that is given replaces the previous one entirely.',
    mind,
  ),
  RulesetBound: event('The NPC was bound to a ruleset, which decides all its turns from now on; null unbinds it.', {
    rulesetId: orNull(Type.String()),
  }),
  NpcArchived: Type.Unsafe<Record<string, never>>(Type.Object({}, { description: 'The NPC was archived.' })),
  TurnOpened: event('A turn began, with its inputs and the first instruction to the body.', {
    ...turn,
    ...basis,
    ...ofActor,
    ...onPatterns,
    observation: Type.String(),
    context: AnyValue,
    npcState: AnyObject,
    persona: Type.Optional(Type.String()),
    player: Type.Optional(SpeakerGiven),
    // Only with a player token: nothing that decides reads it.
    playerContext: Type.Optional(AnyObject),
    actor: Type.Optional(ActorGiven),
    // Only in a resumed turn, whose tape supplied them.
    memories: Type.Optional(AllRecalled),
    ruleset: RulesetUsed,
    resumedFrom: Type.Optional(text('The lost turn that this one resumes.')),
    conversation: Type.Optional(list(ExchangeSchema)),
    promptAt: Type.Optional(text('The time from which the prompt tells ages: RFC 3339, UTC. Absent: it tells none.')),
    promptBudget: Type.Optional(
      Type.Integer({ description: 'How many tokens the prompt may take. Absent: no limit is known.' }),
    ),
    agent: Type.Optional(Type.Literal(true, { description: 'The turn runs on the server, without a body.' })),
    deadlineAt: text('RFC 3339, UTC.'),
    instruction: InstructionGiven,
  }),
  RulesetMissing: event('A request or a binding named a ruleset that is not registered, so another one decided.', {
    ...turn,
    rulesetId: Type.String(),
  }),
  ActorIdentified: event('The body said who acts in the turn, and got its next instruction.', {
    ...turn,
    ...basis,
    ...ofActor,
    actor: ActorGiven,
    instruction: InstructionGiven,
  }),
  MemoriesRecalled: event('The memories for the turn are known, and the body got the instruction to run the model.', {
    ...turn,
    ...basis,
    memories: AllRecalled,
    // Only in a turn that the server plays.
    recall: Type.Optional(RecallBasisSchema),
    instruction: InstructionGiven,
  }),
  VerdictReached: event(
    'The rules allow the output of the model; this ends a turn, or is the only event of a turn that asked for nothing but a verdict.',
    {
      ...turn,
      ...basis,
      ...verdict,
      kid: Type.Optional(text('The public key for the signature, in /.well-known/jwks.json.')),
      iss: Type.Optional(text('Who signed.')),
    },
  ),
  VerdictRefused: event('The rules refuse the output of the model; this ends a turn just as a valid verdict does.', {
    ...turn,
    ...basis,
    ...verdict,
  }),
  StateChanged: event('A valid verdict changed the data of the NPC.', {
    ...turn,
    patch: Type.Unsafe<JsonObject>({ type: 'object', description: 'A merge patch (RFC 7396) of the mind’s data.' }),
  }),
  FactsReported: event('The game reported facts about the NPC, which no text of a player or a model can change.', {
    facts: Type.Unsafe<JsonObject>({ type: 'object', description: 'A merge patch (RFC 7396) of the mind’s facts.' }),
  }),
  MemoryStored: event('The NPC has a new memory, from a verdict, a client or a character card.', {
    turnId: Type.Optional(turn.turnId),
    memoryId: Type.String(),
    text: Type.String(),
    type: Type.String(),
    importance: Type.Number(),
    // From an agent's client, stored unchanged.
    metadata: Type.Optional(AnyObject),
    player: Type.Optional(SpeakerGiven),
    ...onGameClock,
  }),
  MemoryConfirmed: event('The body reported that it has stored this memory as well.', { memoryId: Type.String() }),
  RecallReported: event('A body reported what it recalled from its own memory, and what it had asked for.', {
    query: Type.String(),
    similarity: Type.Optional(Type.Number()),
    limit: Type.Optional(Type.Integer()),
    type: Type.Optional(Type.String()),
    minImportance: Type.Optional(Type.Number()),
    memories: AllRecalled,
  }),
  MemoriesCleared: event(
    'A client cleared the memory: everything stored before this event disappears from lists and recall.',
    { count: Type.Integer({ description: 'The number of memories that were cleared.' }) },
  ),
  MemoriesRetracted: event(
    'An operator retracted these memories, which removes them from lists, recall, confirmations and souls.',
    {
      memoryIds: list(Type.String()),
      reason: text('The reason that the operator gave.'),
      // The memories that were named; only if memories derived from them were retracted too.
      roots: Type.Optional(list(Type.String())),
    },
  ),
  AnswerMissing: event('The engine was asked for the text of the turn, and gave none.', {
    ...turn,
    cortexId: text('The engine that was asked.'),
    reason: text('What was wrong with its answer, without the text of the engine.'),
    attempt: Type.Integer({ description: 'How many times the engine has been asked, from 1.' }),
  }),
  PromptShortened: event('The engine refused the prompt of the turn because of its length, and gets a shorter one.', {
    ...turn,
    ...basis,
    budget: Type.Integer({ description: 'How many tokens the new prompt may take.' }),
    cortexId: text('The engine that was asked.'),
    reason: text('Why it refused, without the text of the engine.'),
    instruction: InstructionGiven,
  }),
  TurnFailed: event('The turn ended without a verdict, because the engine gave no text in any attempt.', {
    ...turn,
    code: text('The code of the error that clients get.'),
    reason: text('What was wrong with the last answer.'),
  }),
  TurnExpired: event('The turn reached its deadline before it ended.', turn),
  TapeMismatchNoticed: event('A tape that the body sent differs from what the turn had recorded.', {
    ...turn,
    round: Type.Integer(),
    members: list(object({ member: Type.String(), recorded: AnyValue, received: AnyValue })),
  }),
  DirectiveGiven: event('A client asked for a directive, and got the query for its recall.', {
    ...turn,
    ...basis,
    ...onPatterns,
    ...trace,
    observation: Type.String(),
    context: AnyValue,
    npcState: AnyObject,
    player: Type.Optional(SpeakerGiven),
    ruleset: RulesetUsed,
    memoryRecall: object(recall),
  }),
  ContextBuilt: event('A client asked for a context, and got the prompt for its model.', {
    ...turn,
    ...basis,
    ...onPatterns,
    ...trace,
    observation: Type.String(),
    context: Type.Optional(AnyValue),
    npcState: AnyObject,
    persona: Type.Optional(Type.String()),
    player: Type.Optional(SpeakerGiven),
    memories: AllRecalled,
    ruleset: RulesetUsed,
    prompt: Type.String(),
    constraints: AnyObject,
    ctxMessages: orNull(list(message)),
  }),
  BridgeChecked: event('A client asked whether the rules allow an action of the NPC.', {
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
  SoulExportRequested: event(
    'An export of the NPC as a soul began; the soul is made from this event and the events before it.',
    {
      ...soul,
      npcState: AnyObject,
      // Applies if no persona is recorded.
      persona: Type.Optional(Type.String()),
      includeMemories: Type.Boolean(),
      // What the soul leaves out; absent if nothing.
      without: Type.Optional(list(Type.Literal('players'))),
      // Who uploads the soul to an archive: a client, in a second phase, or this server, immediately.
      uploadedBy: Type.Union([Type.Literal('client'), Type.Literal('server')]),
      // Without these two, it is stored in this server's own archive, as JSON.
      storage: Type.Optional(Type.Literal('ipfs', { description: 'The soul is named by its CID.' })),
      format: Type.Optional(Type.Literal('binary', { description: 'The CID names the soul as CBOR.' })),
      deadlineAt: text('RFC 3339, UTC.'),
    },
  ),
  SoulSealed: event('The soul document was made, signed, and stored under its digest.', {
    ...soul,
    name: text('The name shown in lists.'),
    digest: text('SHA-256 of the document’s JCS form, base64url.'),
    root: text('The Merkle root over the parts, base64url.'),
    kid: text('The public key for the signature, in /.well-known/jwks.json.'),
    mindRevision: Type.Integer({ description: 'The last revision of the mind that the soul includes.' }),
    memories: Type.Integer(),
    bytes: Type.Integer({ description: 'Of the document’s JCS form.' }),
    // Lets an answer include it without reading the document; absent from the oldest events.
    signature: Type.Optional(text('The signature of the document: a compact JWS.')),
  }),
  SoulExported: event('An archive has the soul.', {
    ...soul,
    txId: Type.String(),
    url: text('Where the soul can be read.'),
  }),
  SoulExportFailed: event('The export of the soul failed.', {
    ...soul,
    code: Type.String(),
    reason: Type.String(),
    details: Type.Optional(AnyObject),
  }),
  SoulExportExpired: event('The client did not finish the export of the soul before its deadline.', soul),
  SoulWithdrawn: event(
    'A client asked this server’s archive to forget the soul. Recorded before the archive does so.',
    {
      ...soul,
      txId: text('The id under which the client withdrew it.'),
    },
  ),
  SoulArrivalBegun: event(
    'An import of a soul began; the events of an import count only once it is complete. Always the first event of its stream.',
    { ...soul, ...ofImport, memories: Type.Integer() },
  ),
  MemoryArrived: event('This memory was imported with a soul, as it was when it was first stored.', {
    memoryId: Type.String(),
    text: Type.String(),
    type: Type.String(),
    importance: Type.Number(),
    metadata: Type.Optional(AnyObject),
    storedAt: text('When it was first stored: RFC 3339, UTC.'),
    confirmed: Type.Boolean(),
    player: Type.Optional(SpeakerGiven),
    ...onGameClock,
    source: Source,
  }),
  SoulArrived: event('The import of a soul is complete, and the NPC starts from the contents of the soul.', {
    ...soul,
    ...ofImport,
    digest: text('Of the soul document.'),
    copy: Type.Boolean({ description: 'Whether it was imported under a different npcId from its source.' }),
    signer: Type.Union([Type.Literal('ours'), Type.Literal('known'), Type.Literal('unknown')]),
    // Its name in lists.
    name: Type.String(),
    // Absent if it had none.
    persona: Type.Optional(Type.String()),
    data: Type.Optional(AnyObject),
    facts: Type.Optional(AnyObject),
    // The rules that it followed on the exporting server.
    ruleset: orNull(
      object({
        rulesetId: Type.String(),
        version: Type.Integer(),
        digest: text('The SHA-256 of its JCS form.'),
        bound: Type.Optional(Type.Literal(true, { description: 'The NPC is bound to it here, too.' })),
      }),
    ),
    // The souls that it descends from, oldest first; this one is the last.
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
  ChainBreakRecorded: event('An operator acknowledged a break in the hash chain of this stream.', {
    // The page about the hash chain explains `stored` and `computed`.
    revision: Type.Integer({ description: 'Of the event that does not match.' }),
    member: Type.Union([Type.Literal('prevHash'), Type.Literal('hash')]),
    stored: Type.String(),
    computed: Type.String(),
    reason: Type.Optional(Type.String({ description: 'What the operator said about it.' })),
  }),
};
