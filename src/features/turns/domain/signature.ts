import { isObject, jcs, type Json, type JsonObject } from '../../../kernel/base/json.js';
import type { RulesetUsed } from '../../rules/domain/ruleset.js';
import type { Verdict } from '../../npcs/domain/events.js';
import { sha256Base64url } from '../../../kernel/crypto/sha256.js';
import { defined } from '../../../kernel/base/defined.js';

/** The claims of a verdict's signature (RFC 7519). */
export type VerdictClaims = {
  readonly iss: string;
  /** The npcId. */
  readonly sub: string;
  /** The turnId. */
  readonly jti: string;
  /** The time of the event, in seconds since 1970. */
  readonly iat: number;
  readonly tenant: string;
  readonly revision: number;
  readonly observationDigest: string;
  readonly verdictDigest: string;
  /** The rules that decided; absent if none did, and in the verdicts of servers that did not record the digest yet. */
  readonly ruleset?: {
    readonly id: string;
    readonly version: number;
    readonly digest: string;
    readonly asked?: string;
  };
};

/** Where and when a verdict was recorded, and the issuer name under which it is signed. */
export type SignedFacts = {
  readonly iss: string;
  readonly tenant: string;
  readonly npcId: string;
  readonly turnId: string;
  /** The revision and the time (RFC 3339) of the event that recorded the verdict. */
  readonly revision: number;
  readonly at: string;
  readonly observation: string;
  readonly ruleset: RulesetUsed | null;
};

/** The members of a verdict that its digest covers. */
type Digested = Pick<Verdict, 'valid' | 'dialogue' | 'action' | 'stateDelta' | 'memoryStore'>;

/**
 * A value in the form that deployed clients store: numbers rounded to single precision. A number outside its range has no such form and stays
 * unchanged.
 */
const singlePrecision = (value: Json): Json => {
  if (typeof value === 'number') {
    const rounded = Math.fround(value);
    return Number.isFinite(rounded) ? rounded : value;
  }
  if (Array.isArray(value)) return (value as readonly Json[]).map(singlePrecision);
  if (isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, singlePrecision(member)]));
  }
  return value;
};

const digest = (value: Json): string => sha256Base64url(jcs(singlePrecision(value)));

/** The base64url SHA-256 of the JCS form of a verdict's members. */
export const verdictDigest = ({ valid, dialogue, action, stateDelta, memoryStore }: Digested): string =>
  digest({ valid, dialogue, action: action as Json, stateDelta, memoryStore });

const rulesetClaim = (used: RulesetUsed | null): Pick<VerdictClaims, 'ruleset'> => {
  // A recorded verdict is signed the same way for ever, so older records get no claim.
  if (used?.digest === undefined) return {};
  const { rulesetId: id, version, digest: ofContent, asked } = used;
  return { ruleset: { id, version, digest: ofContent, ...defined({ asked }) } };
};

/** The claims of a recorded verdict: the same record makes the same claims. */
export const verdictClaims = (facts: SignedFacts, verdict: Digested): VerdictClaims => ({
  iss: facts.iss,
  sub: facts.npcId,
  jti: facts.turnId,
  iat: Math.floor(Date.parse(facts.at) / 1_000),
  tenant: facts.tenant,
  revision: facts.revision,
  observationDigest: digest(facts.observation),
  verdictDigest: verdictDigest(verdict),
  ...rulesetClaim(facts.ruleset),
});

/**
 * A verdict from a request, in the form that its digest covers; null if a covered member has a different form. `stateTransform` is read as
 * `stateDelta`. If both are present with different values the result is null, because a client could act on the one that was not signed. Absent
 * `action` is read as null.
 */
export const verdictFromWire = (body: JsonObject): Digested | null => {
  const { valid, dialogue, action = null, memoryStore } = body as Partial<Record<string, Json>>;
  const [stateDelta, other] = [body['stateDelta'], body['stateTransform']].filter((given) => given !== undefined);
  if (other !== undefined && digest(other) !== digest(stateDelta ?? null)) return null;
  if (typeof valid !== 'boolean' || typeof dialogue !== 'string') return null;
  if (!Array.isArray(memoryStore) || !isObject(stateDelta)) return null;
  if (action !== null && !isObject(action)) return null;
  return { valid, dialogue, action, stateDelta, memoryStore } as unknown as Digested;
};

const common = (
  { valid, dialogue, action, memoryStore, refusedAction, code, reason, details }: Verdict,
  signature: string | null,
): JsonObject => ({
  valid,
  signature,
  memoryStore,
  action: action as Json,
  dialogue,
  ...(valid
    ? {}
    : {
        refusedAction: (refusedAction ?? null) as Json,
        ...defined({ code, reason, details }),
      }),
});

/** The members of a `Finalize` instruction. `signature` is null exactly when the verdict is invalid. */
export const finalizeWire = (verdict: Verdict, signature: string | null): JsonObject => ({
  ...common(verdict, signature),
  stateTransform: verdict.stateDelta,
});

/** The members of a verdict in the response of `POST /npcs/{npcId}/verdict`. */
export const verdictWire = (verdict: Verdict, signature: string | null): JsonObject => ({
  ...common(verdict, signature),
  stateDelta: verdict.stateDelta,
});
