import { type TProperties, type TSchema, Type } from '@sinclair/typebox';

import type { RejectionCode } from '../../base/rejection.js';
import { named } from '../named.js';
import { FreeObject } from '../schemas.js';

const text = Type.String();
const count = Type.Integer();
const texts = Type.Array(text);
const maybe = <Schema extends TSchema>(schema: Schema) => Type.Optional(schema);

/** One problem of a request. */
const Issue = named(
  'Issue',
  Type.Object({
    in: maybe(Type.Unsafe({ type: 'string', enum: ['body', 'query', 'path'] })),
    pointer: Type.String({ description: 'Where the problem is, as a JSON Pointer (RFC 6901) within that part.' }),
    message: Type.String({ description: 'What the value must be.' }),
  }),
);
const issues = Type.Array(Issue);

/** A problem of a map, found by layer and object. */
export const LevelProblemSchema = named(
  'LevelProblem',
  Type.Object({
    layer: Type.Union([text, Type.Null()], { description: 'Null for the map itself and for a layer without a name.' }),
    object: Type.Union([text, Type.Null()]),
    problem: Type.String({ description: 'What to change.' }),
  }),
);

/** What grammar 2 refuses in a rule set. */
const RulesetProblemSchema = named(
  'RulesetProblem',
  Type.Object({
    drRuleId: Type.String({ description: 'Empty for the set itself.' }),
    pointer: Type.String({ description: 'Where the problem is in the body, as a JSON Pointer (RFC 6901).' }),
    message: text,
    meant: maybe(Type.String({ description: 'What was probably meant.' })),
  }),
);

/** What is wrong in a body, such as in a case of a rule test. */
const BodyProblemSchema = named(
  'BodyProblem',
  Type.Object({
    pointer: Type.String({ description: 'Where the problem is in the body, as a JSON Pointer (RFC 6901).' }),
    message: text,
    meant: maybe(Type.String({ description: 'What was probably meant.' })),
  }),
);

const reason = { reason: Type.String({ description: 'The reason, as a sentence.' }) };
const ofRuleset = { rulesetId: text, version: maybe(count), digest: maybe(text) };

/** The details of every code whose details have fixed members. */
const members: Partial<Readonly<Record<RejectionCode, TProperties>>> = {
  REQUEST_UNREADABLE: reason,
  MALFORMED_JSON: reason,
  SCHEMA_INVALID: {
    issues: maybe(issues),
    last: maybe(Type.Integer({ description: 'The last revision, if no event is within the requested range.' })),
  },
  ID_INVALID: {
    parameter: maybe(Type.String({ description: 'The path parameter that is invalid.' })),
    member: maybe(Type.String({ description: 'The member of the body that is invalid.' })),
    issues: maybe(issues),
  },
  HEADER_INVALID: { header: Type.String({ description: 'The name of the header.' }) },
  FORBIDDEN: {
    scope: maybe(Type.String({ description: 'The scope that is missing.' })),
    missingScopes: maybe(Type.Array(text, { description: 'Scopes that the key cannot grant.' })),
    npcId: maybe(Type.String({ description: 'The NPC that the player token does not name.' })),
  },
  NPC_NOT_FOUND: { npcId: text },
  TURN_NOT_FOUND: { npcId: maybe(text), turnId: maybe(text) },
  RULESET_NOT_FOUND: ofRuleset,
  MEMBER_MISSPELT: {
    member: Type.String({ description: 'The JSON Pointer of the member that would be ignored.' }),
    meant: maybe(
      Type.String({ description: 'The JSON Pointer of the member that was probably meant, if there is one.' }),
    ),
  },
  LEVEL_NOT_FOUND: { levelId: maybe(text), version: maybe(Type.Union([count, Type.Null()])) },
  MEMORY_NOT_FOUND: {
    npcId: maybe(text),
    memoryId: maybe(text),
    memoryIds: maybe(Type.Array(text, { description: 'The first unknown memories.' })),
    unknown: maybe(Type.Integer({ description: 'How many memories are unknown.' })),
  },
  PRESET_NOT_FOUND: { presetId: text, presets: texts },
  KEY_NOT_FOUND: { keyId: text },
  SIGNING_KEY_NOT_FOUND: { kid: text },
  CHECKPOINT_NOT_FOUND: { size: maybe(count) },
  LOG_BEHIND: {
    origin: Type.String({ description: 'The name of the log.' }),
    size: Type.Integer({ description: 'The size of its newest checkpoint.' }),
    published: Type.Integer({
      description: 'The size of the newest checkpoint that was published, as far as is known.',
    }),
  },
  LOG_CHANGED: { reason: text },
  CORTEX_NOT_FOUND: { cortexId: maybe(text) },
  METHOD_NOT_ALLOWED: { allow: Type.Array(text, { description: 'The methods that the path accepts.' }) },
  SOUL_ALREADY_LIVE: {
    npcId: maybe(Type.String({ description: 'The NPC that has this soul.' })),
    origin: maybe(FreeObject),
    reason: maybe(text),
  },
  GHOST_RUNNING: { sessionId: text },
  LEVEL_BUILT_IN: { levelId: text },
  LEVELS_FULL: { mostVersions: maybe(count), mostBytes: maybe(count), bytes: maybe(count) },
  LAST_ADMIN_KEY: { keyId: text },
  SIGNING_KEY_CURRENT: { kid: text },
  SIGNING_KEYS_FULL: { limit: count },
  TENANT_EXISTS: { tenantId: text },
  PRECONDITION_FAILED: { etag: Type.String({ description: 'The `ETag` of the current version.' }) },
  BODY_TOO_LARGE: {
    limitBytes: maybe(count),
    listsAndObjectsLimit: maybe(count),
    itemsLimit: maybe(count),
    membersLimit: maybe(count),
  },
  DATA_TOO_LARGE: { bytes: maybe(count), limitBytes: maybe(count) },
  FACTS_TOO_LARGE: { bytes: count, limitBytes: count },
  PATTERN_INVALID: { drRuleId: text, ruleObsPattern: text, problem: text },
  RULE_ID_REPEATED: { drRuleId: text },
  RULES_INVALID: {
    problems: Type.Array(RulesetProblemSchema),
    problemsLeftOut: maybe(Type.Integer({ description: 'How many more problems there are.' })),
  },
  MEMBER_UNKNOWN: { problems: Type.Array(BodyProblemSchema, { description: 'At most 100.' }) },
  RULE_TESTS_INVALID: { problems: Type.Array(BodyProblemSchema, { description: 'At most 100.' }) },
  RULESET_TOO_LARGE: {
    figures: Type.Record(text, count, { description: 'The cost of the set, as far as it was counted.' }),
    bounds: Type.Record(text, count),
  },
  TEMPLATE_INVALID: { template: text },
  LEVEL_INVALID: { problems: Type.Array(LevelProblemSchema) },
  CARD_INVALID: { issues },
  PNG_INVALID: reason,
  CHARX_INVALID: reason,
  SOUL_DOWNLOAD_FAILED: reason,
  SOUL_INVALID: reason,
  RETRACTION_TOO_LARGE: {
    memories: count,
    atLeast: Type.Boolean({ description: 'Whether there are more; counting stopped there.' }),
    memoriesLimit: count,
  },
  ACTION_FORBIDDEN: { type: text, forbiddenActions: texts },
  ACTION_NOT_ALLOWED: { type: text, allowedActions: texts },
  ACTION_UNKNOWN: {
    type: text,
    actions: texts,
    meant: maybe(Type.String({ description: 'The type that was probably meant.' })),
  },
  ACTION_TOO_LARGE: { limitBytes: count, limitDepth: count },
  HP_DEPLETED: { hp: Type.Number() },
  MANA_INSUFFICIENT: { mana: Type.Number(), cost: maybe(Type.Number()) },
  ITEMS_TOO_MANY: { most: count },
  ITEM_MISSING: { type: text },
  ITEM_NOT_IN_INVENTORY: { item: text, inventory: texts },
  OUT_OF_BOUNDS: { x: Type.Number(), y: Type.Number(), bounds: Type.Record(text, Type.Number()) },
  PAYLOAD_INVALID: {
    type: text,
    pointer: Type.String({ description: 'Where the problem is in the payload, as a JSON Pointer (RFC 6901).' }),
    problem: text,
  },
  TARGET_NOT_FOUND: { target: text, entities: maybe(texts), items: maybe(texts), places: maybe(texts) },
  TARGET_UNEXPECTED: { target: text },
  RULE_REFUSED: { drRuleId: text, ruleReason: text },
  REPLAYS_RUNNING: { most: count },
  GHOSTS_RUNNING: { most: count },
  SOULS_WAITING: { limitBytes: count },
  TOO_MANY_STREAMS: { limit: count },
  EVENT_VERSION_UNKNOWN: { type: text, version: count },
  LOGIC_UNKNOWN: { logic: count },
  READ_MODEL_BEHIND: { minRevision: maybe(count) },
  ARCHIVE_UNAVAILABLE: { archive: text },
  CORTEX_NO_ANSWER: { cortexId: maybe(text), turnId: maybe(text), reason: text },
  CORTEX_UNAVAILABLE: { cortexId: maybe(text), turnId: maybe(text), reason: text },
};

/** `NPC_NOT_FOUND` as `NpcNotFound`. */
export const pascalCase = (code: string): string =>
  code
    .split('_')
    .map((word) => word.slice(0, 1) + word.slice(1).toLowerCase())
    .join('');

/** The schema of the details of each code with fixed details, by code. */
export const errorDetails: ReadonlyMap<RejectionCode, TSchema> = new Map(
  Object.entries(members).map(([code, properties]) => [
    code as RejectionCode,
    named(`${pascalCase(code)}Details`, Type.Object(properties)),
  ]),
);
