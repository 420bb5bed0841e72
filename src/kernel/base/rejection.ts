import type { JsonObject } from './json.js';

/** The stable code and default message of every refusal. src/kernel/http/statuses.ts maps a code to its HTTP status. */
export const rejections = {
  REQUEST_UNREADABLE: 'The request is not HTTP that this server can read; details.reason says why.',
  MALFORMED_JSON: 'The body is not valid JSON.',
  SCHEMA_INVALID: 'The request does not match its schema; details.issues lists every problem.',
  ID_INVALID: 'The id is not valid: use 1 to 128 printable characters without "/", in the Unicode form NFC.',
  HEADER_INVALID: 'A request header has an invalid value.',
  UNAUTHORIZED: 'A valid API key is needed: send "Authorization: Bearer <key>".',
  FORBIDDEN: 'This key does not have the scope that the route needs.',
  NOT_FOUND: 'No route matches this path; GET /docs lists them all.',
  NPC_NOT_FOUND: 'No NPC with this id has any history here.',
  TURN_NOT_FOUND: 'This NPC has no turn with this id.',
  RULESET_NOT_FOUND: 'No ruleset is registered under this id.',
  GHOST_NOT_FOUND: 'There is no ghost session with this id.',
  REPLAY_NOT_FOUND: 'There is no replay with this id.',
  FINDING_NOT_FOUND: 'This ghost session has no finding with this number.',
  LEVEL_NOT_FOUND: 'No level is registered under this id; GET /levels lists all levels.',
  SOUL_NOT_FOUND: 'No archive of this server has a soul under this id.',
  SOUL_EXPORT_NOT_FOUND: 'This NPC has no export of this soul: begin with POST /npcs/{npcId}/soul/export.',
  SOUL_IMPORT_NOT_FOUND: 'Nobody has begun to import this: begin with POST /npcs/import.',
  MEMORY_NOT_FOUND: 'There is no memory with this id in it.',
  PRESET_NOT_FOUND: 'There is no preset with this name; GET /rules/presets lists all presets.',
  KEY_NOT_FOUND: 'There is no such key.',
  ARCHIVE_NOT_FOUND: 'The archive holds nothing under this id.',
  CHECKPOINT_NOT_FOUND:
    'The log has no such checkpoint; POST /audit/checkpoints makes one where something was written.',
  PROOF_NOT_FOUND: 'The log holds no head of this NPC for that yet: it comes with the next checkpoint.',
  METHOD_NOT_ALLOWED: 'This path does not accept this method; details.allow lists the methods that it accepts.',
  SOUL_ALREADY_LIVE:
    'This soul lives on this server already; with "copy": true it comes in once more, under another npcId.',
  GHOST_RUNNING: 'The ghost session is not over, or has no report yet; stop it, or wait for its report.',
  GHOST_NOT_REMOTE:
    'This server plays the ghost session itself; only one with the driver "remote" takes the steps of a body.',
  GHOST_OVER: 'The ghost session is over: its body has nothing more to do.',
  SOUL_ARRIVING: 'The soul of this NPC is being imported; try again shortly.',
  LEVEL_BUILT_IN: 'This level comes with the server and stays as it is: use another levelId.',
  LEVELS_FULL:
    'There is no room for another version; details has the bound. DELETE /levels/{levelId}?versions=all makes room, another levelId begins at version 1.',
  CONFLICT: 'The request conflicts with what happened before.',
  IDEMPOTENCY_IN_PROGRESS: 'The first request with this Idempotency-Key is still running; try again shortly.',
  CORTEX_NOT_FOUND:
    'There is no engine with this id; POST /cortex/init names one, and GET /cortex/models lists all of them.',
  LAST_ADMIN_KEY: 'This is the last admin key that does not expire; issue another such key first.',
  TENANT_EXISTS:
    'A tenant with this id already exists. If its owner key was lost, run "anima keys recover --tenant <id>".',
  BODY_TOO_LARGE: 'The body is larger than this route accepts.',
  EVENTS_TOO_LARGE: 'This request would record more than one append can hold; send less at once.',
  DATA_TOO_LARGE: "An NPC's data holds at most 256 KiB of JSON; keep less in it.",
  UNSUPPORTED_MEDIA_TYPE: 'Send the body as Content-Type: application/json.',
  SOUL_EXCHANGE_EXPIRED: 'The second phase came too late; begin again with the first.',
  SOUL_ID_DIFFERS: 'npcIdRef names another NPC than the path.',
  SOUL_UPLOAD_FAILED: 'The soul is in no archive: the upload failed. Begin again with the first phase.',
  PATTERN_INVALID: 'A rule pattern is not a valid RE2 expression, or is too large; nothing was stored.',
  RULE_ID_REPEATED: 'Two rules of the set have the same drRuleId; nothing was stored.',
  RULESET_TOO_LARGE:
    'Deciding with the rules of this set would cost too much; details give the cost and the bounds. Nothing was stored.',
  LEVEL_INVALID:
    'This map is not a level; details.problems says what to change, by layer and object. Nothing was stored.',
  SOUL_DOWNLOAD_FAILED: 'The soul could not be downloaded. Begin again with the first phase.',
  REPRO_INVALID: 'This is no reproduction of a finding; details.problems says why. Nothing was played.',
  SOUL_INVALID: 'This is not a valid soul; details.reason says why, and nothing was imported.',
  SOUL_TOO_LARGE: 'This NPC is larger than a soul may be, or its data is nested too deep; details give the bounds.',
  TEMPLATE_INVALID: 'The template is unknown: use Raw, ChatML, Llama3 or Alpaca; nothing was stored.',
  CARD_INVALID:
    'This is no character card of version 1, 2 or 3; details.issues lists every problem. Nothing was stored.',
  CARD_MISSING: 'This picture has no character card in it: there is no chunk tEXt named ccv3 or chara.',
  PNG_INVALID:
    'This is not a whole PNG with a readable card; details.reason says why. CHARX files are not read: export the card as PNG or JSON.',
  RETRACTION_TOO_LARGE:
    'More memories would go than one retraction takes; details say how many. Name some of them, without "derived".',
  SOUL_PAYLOAD_MISMATCH: 'The payload is not the one that was signed in the first phase of the export.',
  IDEMPOTENCY_KEY_REUSED: 'This Idempotency-Key was used before with another body; use a new one.',
  ACTION_FORBIDDEN: 'The constraints of the turn forbid this action.',
  ACTION_NOT_ALLOWED: 'The constraints of the turn do not allow this action.',
  ACTION_TOO_LARGE: 'The action is too large to be recorded.',
  ACTION_TYPE_INVALID: 'The action has a type that is no word of the protocol.',
  ACTION_TYPE_MISSING: 'The action has no type.',
  HP_DEPLETED: 'Without hit points there is no acting.',
  ITEMS_TOO_MANY: 'The action names too many items at once.',
  ITEM_NOT_IN_INVENTORY: 'An item of the action is not in the inventory; details name both.',
  MANA_INSUFFICIENT: 'There is not enough mana for this action.',
  MOVE_TARGET_MISSING: 'The movement has no target.',
  OUT_OF_BOUNDS: 'The target is outside the bounds of the world.',
  SPEECH_EMPTY: 'There is nothing to say.',
  STATE_CHANGE_INVALID: 'The state change cannot be taken; the message says why.',
  TARGET_MISSING: 'The action has no target.',
  TARGET_NOT_FOUND: 'The target is not among what is there.',
  RULE_REFUSED: 'A rule of this NPC forbids the action; details name the rule and its reason.',
  RATE_LIMITED: 'Too many requests for this key; wait as Retry-After says.',
  REPLAYS_RUNNING: 'Too many replays of this studio are not over; wait for some of them, or cancel them.',
  GHOSTS_RUNNING: 'Too many ghost sessions of this studio are not over; wait for some of them, or stop them.',
  SOULS_WAITING:
    'Too many souls of this tenant wait for their upload, or to arrive: upload them, or wait until they have arrived or their exports expire.',
  CONCURRENT_NPC_LIMIT: 'Too many NPCs of this tenant have an open turn.',
  TOO_MANY_STREAMS: 'This key has too many open event streams; close one first.',
  INTERNAL: 'Something went wrong on our side. Quote the requestId when you report it.',
  EVENT_VERSION_UNKNOWN: 'A newer server has written events that this one cannot read yet; try again shortly.',
  LOGIC_UNKNOWN:
    'A newer server has begun this turn with decision logic that this one does not have; try again shortly.',
  NOT_READY: 'The server is starting or stopping; try again shortly.',
  READ_MODEL_BEHIND: 'The read model has not reached the requested revision yet; try again shortly.',
  STORE_FULL: 'The disk is full: nothing was written. Reads still work.',
  STORE_UNAVAILABLE: 'The event store cannot be reached; nothing was written. Try again shortly.',
  DATABASE_UNAVAILABLE: 'The database cannot be reached; try again shortly.',
  ENGINE_UNAVAILABLE:
    'The process engine cannot be reached or did not answer in time. Send the request again; if it opens a turn, use the same Idempotency-Key.',
  ARCHIVE_UNAVAILABLE:
    'An archive outside of this server does not answer; details.archive names it. Send the request again shortly, with the same Idempotency-Key if it has one.',
  CORTEX_UNAVAILABLE:
    'The engine that makes the words does not answer. What was begun goes on: send the same request again shortly.',
  EMBEDDER_UNAVAILABLE: 'The embedder, which recall needs, does not answer; try again shortly.',
  BUSY: 'Too many requests are waiting already; try again shortly.',
} as const satisfies Record<string, string>;

export type RejectionCode = keyof typeof rejections;

/** Whether a recorded word is a code that this program knows: another may have recorded it. */
export const isRejectionCode = (code: string): code is RejectionCode => Object.hasOwn(rejections, code);

/**
 * A refusal that the client caused or can act on. It is thrown at the edge and in application code; deciders return it as a value. Its message and
 * details reach the client, so neither may hold a secret.
 */
export class Rejection extends Error {
  readonly code: RejectionCode;
  readonly details: JsonObject;
  /** Seconds after which a repeat makes sense; becomes `Retry-After`. */
  readonly retryAfter: number | undefined;
  /** Up to how many seconds more a client is told at random: those who are refused together are not to come together again. */
  readonly retrySpread: number;

  constructor(
    code: RejectionCode,
    options: { message?: string; details?: JsonObject; retryAfter?: number; retrySpread?: number } = {},
  ) {
    super(options.message ?? rejections[code]);
    this.name = 'Rejection';
    this.code = code;
    this.details = options.details ?? {};
    this.retryAfter = options.retryAfter;
    this.retrySpread = options.retrySpread ?? 0;
  }
}
