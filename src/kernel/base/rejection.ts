import type { JsonObject } from './json.js';

/** The code and standard message of every refusal that does not concern HTTP. Codes are promises; messages may be improved at any time. */
const domainMessages = {
  SCHEMA_INVALID: 'The request does not match its schema; details.issues lists every problem.',
  UNAUTHORIZED: 'A valid API key is required.',
  MALFORMED_JSON: 'The JSON is invalid; details.reason says why.',
  ID_INVALID: 'The ID is invalid. Use 1 to 128 printable characters without "/", in Unicode form NFC.',
  NPC_NOT_FOUND: 'No NPC with this ID exists.',
  TURN_NOT_FOUND: 'This NPC has no turn with this ID.',
  RULESET_NOT_FOUND: 'No ruleset with this ID is registered.',
  RULESET_UNKNOWN: 'No ruleset with the given rulesetId is registered. Register it first, or correct the ID.',
  MEMBER_MISSPELT: 'A member has a wrong name or place. Use the one in details.meant, if any, or leave it out.',
  GHOST_NOT_FOUND: 'No ghost session with this ID exists.',
  REPLAY_NOT_FOUND: 'No replay with this ID exists.',
  FINDING_NOT_FOUND: 'This ghost session has no finding with this number.',
  LEVEL_NOT_FOUND: 'No level with this ID is registered.',
  SOUL_NOT_FOUND: 'No archive on this server holds a soul with this ID.',
  SOUL_EXPORT_NOT_FOUND: 'This NPC has no export of this soul.',
  SOUL_IMPORT_NOT_FOUND: 'No import of this soul has been started.',
  MEMORY_NOT_FOUND: 'No memory with this ID exists.',
  PLAYER_MISMATCH: 'The request names a different player from the one in its token.',
  PRESET_NOT_FOUND: 'No rule preset with this name exists.',
  KEY_NOT_FOUND: 'No API key with this ID exists.',
  SIGNING_KEY_NOT_FOUND: 'This server has no signing key with this thumbprint.',
  ARCHIVE_NOT_FOUND: 'The archive holds nothing under this ID.',
  CHECKPOINT_NOT_FOUND: 'The log has no such checkpoint.',
  LOG_BEHIND:
    'The log of this tenant does not continue what was published of it, or that cannot be read, so nothing is signed.',
  CHAIN_BROKEN:
    'The stored event at details.revision is not what the server recorded, so nothing about it is signed. "anima chain" shows more.',
  LOG_CHANGED:
    'The log of this tenant was changed after its last checkpoint, so nothing is signed; details.reason says how. See docs/operate/broken-chain.md.',
  PROOF_NOT_FOUND: 'The log does not have a matching entry for this NPC yet. The next checkpoint adds it.',
  SOUL_ALREADY_LIVE:
    'This soul is already live on this server. To import it a second time under another npcId, set "copy": true.',
  GHOST_RUNNING: 'The ghost session is still running or has no report yet. Stop it, or wait for its report.',
  GHOST_NOT_REMOTE:
    'The server plays this ghost session itself. Only sessions with the driver "remote" accept steps from a body.',
  GHOST_OVER: 'The ghost session is over and accepts no more steps.',
  SOUL_ARRIVING: 'The soul of this NPC is still being imported. Try again shortly.',
  LEVEL_BUILT_IN: 'This level is built in and cannot be changed. Use another levelId.',
  LEVELS_FULL: 'The limit on stored level versions has been reached; see details for the limit.',
  CONFLICT: 'The request conflicts with the current state.',
  PRECONDITION_FAILED:
    'This is no longer the version that If-Match names. Read it again; details.etag names the current version.',
  CORTEX_NOT_FOUND: 'No engine or model on this server has this name.',
  LAST_ADMIN_KEY:
    'This is the last key that does not expire and has every scope, or the scope "admin". Issue another one first.',
  SIGNING_KEY_CURRENT: 'This is the key that signs now. Rotate the signing keys first, then revoke it.',
  SIGNING_KEYS_FULL: 'The limit on signing keys has been reached; see details for the limit.',
  TENANT_EXISTS:
    'A tenant with this ID already exists. If its owner key is lost, run "anima keys recover --tenant <id>".',
  EVENTS_TOO_LARGE: 'The request would record more than one append can hold. Send less data at a time.',
  DATA_TOO_LARGE: 'The data of an NPC is limited to 256 KiB of JSON. Store less.',
  FACTS_TOO_LARGE: 'The facts of an NPC, and one report of facts, are limited to 64 KiB of JSON. Report less.',
  SOUL_EXCHANGE_EXPIRED: 'The second phase came too late. Start again with the first phase.',
  SOUL_ID_DIFFERS: 'npcIdRef names a different NPC from the one being exported.',
  SOUL_UPLOAD_FAILED: 'The soul could not be stored in an archive. Start again with the first phase.',
  PATTERN_INVALID: 'A rule pattern is not a valid RE2 expression, or is too large. Nothing was stored.',
  RULE_ID_REPEATED: 'Two rules in the set have the same drRuleId. Nothing was stored.',
  RULES_INVALID:
    'Some rules cannot be read; details.problems lists where and what was probably meant. Nothing was stored.',
  MEMBER_UNKNOWN: 'Some members of the body are unknown; details.problems lists them.',
  RULE_TESTS_INVALID: 'Some cases cannot be read; details.problems says where and why. Nothing was tested.',
  RULESET_TOO_LARGE:
    'Evaluating this ruleset would cost too much; see details for the cost and the limits. Nothing was stored.',
  LEVEL_INVALID:
    'The map is not a valid level; details.problems says what to change, by layer and object. Nothing was stored.',
  SOUL_DOWNLOAD_FAILED: 'The soul could not be downloaded. Start again with the first phase.',
  REPRO_INVALID: 'The reproduction is invalid; details.problems says why. Nothing was played.',
  SOUL_INVALID: 'The soul is invalid; details.reason says why.',
  SOUL_TOO_LARGE: 'The NPC is too large for a soul, or its data is nested too deeply; see details for the limits.',
  TEMPLATE_INVALID: 'The template is unknown. Use Raw, ChatML, Llama3 or Alpaca. Nothing was stored.',
  CARD_INVALID:
    'This is not a character card of version 1, 2 or 3; details.issues lists every problem. Nothing was stored.',
  CARD_MISSING:
    'The file contains no character card: a PNG needs a text chunk named ccv3 or chara, and a CHARX needs a card.json.',
  PNG_INVALID: 'This is not a complete PNG with a readable card; details.reason says why.',
  CHARX_INVALID: 'This is not a complete CHARX (a zip) with a readable card; details.reason says why.',
  RETRACTION_TOO_LARGE:
    'This would retract more memories than one request may; see details for the numbers. Retract fewer at a time, and leave out "derived".',
  SOUL_PAYLOAD_MISMATCH: 'The payload differs from the one that was signed in the first phase of the export.',
  ACTION_FORBIDDEN: 'The constraints of the turn forbid this action.',
  ACTION_NOT_ALLOWED: 'This action is not among those that the constraints of the turn allow.',
  ACTION_TOO_LARGE: 'The action is too large to record.',
  ACTION_TYPE_INVALID: 'The action type is invalid. Use one word in UPPER_SNAKE_CASE, such as MOVE.',
  ACTION_TYPE_MISSING: 'The action has no type.',
  ACTION_UNKNOWN: 'The NPC has no such action; details.actions lists those that it has.',
  HP_DEPLETED: 'The NPC has no hit points left, so it cannot act.',
  ITEMS_TOO_MANY: 'The action names too many items at once.',
  ITEM_MISSING: 'The action takes an item, but does not say which.',
  ITEM_NOT_IN_INVENTORY: 'The action names an item that is not in the inventory; see details for both.',
  MANA_INSUFFICIENT: 'The NPC does not have enough mana for this action.',
  MOVE_TARGET_MISSING: 'The move has no target.',
  OUT_OF_BOUNDS: 'The target is outside the bounds of the world.',
  PAYLOAD_INVALID: 'The payload of the action is not as the ruleset declares it; details say what is wrong.',
  SPEECH_EMPTY: 'The NPC has nothing to say: the text is empty.',
  STATE_CHANGE_INVALID: 'The state change cannot be applied.',
  TARGET_MISSING: 'The action has no target.',
  TARGET_NOT_FOUND: 'The target of the action is not present.',
  TARGET_UNEXPECTED: 'The action has a target, but should have none.',
  RULE_REFUSED: 'A rule of this NPC forbids the action; details names the rule and its reason.',
  REPLAYS_RUNNING: 'This tenant has too many unfinished replays. Wait for some to finish, or cancel them.',
  GHOSTS_RUNNING: 'This tenant has too many unfinished ghost sessions. Wait for some to finish, or stop them.',
  SOULS_WAITING:
    'Too many souls of this tenant are waiting to be uploaded or imported. Upload them, or wait until they have arrived or their exports have expired.',
  CONCURRENT_NPC_LIMIT: 'Too many NPCs of this tenant have an open turn. Finish some of these turns first.',
  INTERNAL: 'Something went wrong on the server. Quote the requestId when you report it.',
  EVENT_VERSION_UNKNOWN: 'A newer server wrote events that this server cannot read yet. Try again shortly.',
  LOGIC_UNKNOWN:
    'A newer server started this turn with decision logic that this server does not have. Try again shortly.',
  NOT_READY: 'The server is starting or stopping. Try again shortly.',
  READ_MODEL_BEHIND: 'The read model has not reached the requested revision yet. Try again shortly.',
  STORE_FULL: 'The disk is full. Nothing was written; reads still work.',
  STORE_UNAVAILABLE: 'The event store is unavailable. Nothing was written. Try again shortly.',
  DATABASE_UNAVAILABLE: 'The database is unavailable. Try again shortly.',
  ENGINE_UNAVAILABLE: 'The process runtime is unavailable or did not respond in time. Send the request again.',
  ARCHIVE_UNAVAILABLE: 'An external archive is unavailable; details.archive names it. Send the request again shortly.',
  CORTEX_NO_ANSWER: 'The language model engine gives no answer to this prompt.',
  CORTEX_UNAVAILABLE:
    'The language model engine is unavailable. Work that has started continues; send the same request again shortly.',
  EMBEDDER_UNAVAILABLE: 'The embedder that recall needs is unavailable. Try again shortly.',
  BUSY: 'The server is busy: too many requests are waiting. Try again shortly.',
} as const satisfies Record<string, string>;

/**
 * Refusals of the HTTP request itself. Their messages are in src/kernel/http/rejections.ts, so code below the HTTP edge throws one of them only with
 * a message of its own.
 */
export const requestCodes = [
  'REQUEST_UNREADABLE',
  'HEADER_INVALID',
  'FORBIDDEN',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'BODY_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'IDEMPOTENCY_IN_PROGRESS',
  'IDEMPOTENCY_KEY_REUSED',
  'RATE_LIMITED',
  'TOO_MANY_STREAMS',
] as const;

export type DomainCode = keyof typeof domainMessages;
export type RequestCode = (typeof requestCodes)[number];
export type RejectionCode = DomainCode | RequestCode;

export const isDomainCode = (code: string): code is DomainCode => Object.hasOwn(domainMessages, code);

export const rejectionCodes = [
  ...requestCodes,
  ...(Object.keys(domainMessages) as DomainCode[]),
] as const satisfies readonly RejectionCode[];

/** Whether this program knows a recorded code, which a newer program may have recorded. */
export const isRejectionCode = (code: string): code is RejectionCode =>
  isDomainCode(code) || requestCodes.some((each) => each === code);

/** The message of a refusal without its own: the code itself if only the HTTP edge has a message for it. */
export const standardMessage = (code: RejectionCode): string => (isDomainCode(code) ? domainMessages[code] : code);

/**
 * A refusal that the client caused or can act on. The edge and application code throw it; deciders return it as a value. The client sees its message
 * and details, so neither may contain a secret.
 */
export class Rejection extends Error {
  readonly code: RejectionCode;
  readonly details: JsonObject;
  /** After how many seconds a retry may succeed. */
  readonly retryAfter: number | undefined;
  /** Upper bound of a random extra delay in seconds, so that clients refused together do not retry together. */
  readonly retrySpread: number;

  constructor(
    code: RejectionCode,
    options: { message?: string; details?: JsonObject; retryAfter?: number; retrySpread?: number } = {},
  ) {
    super(options.message ?? standardMessage(code));
    this.name = 'Rejection';
    this.code = code;
    this.details = options.details ?? {};
    this.retryAfter = options.retryAfter;
    this.retrySpread = options.retrySpread ?? 0;
  }
}
