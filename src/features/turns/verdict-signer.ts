import { compactVerify, decodeProtectedHeader, errors } from 'jose';
import type { TurnUpTo } from './good-turn.js';
import type { Verdict } from '../npcs/domain/events.js';
import { type VerdictClaims, verdictClaims, verdictDigest, verdictFromWire } from './domain/signature.js';
import { isObject, type JsonObject } from '../../kernel/base/json.js';
import { npcStream } from '../../kernel/base/stream-names.js';
import { ED25519_ALGORITHMS, isCanonicalJws } from '../../kernel/crypto/compact-jws.js';
import type { RulesetUsed } from '../rules/domain/ruleset.js';
import type { SigningKeys } from '../../ports/signing-keys.js';

/** Where and when a verdict was recorded, with the key and the issuer from its event and the rules from its turn. */
export type Signing = {
  readonly revision: number;
  readonly at: string;
  readonly kid: string;
  readonly iss: string;
  readonly ruleset: RulesetUsed | null;
};

/** A recorded verdict. `signing` is absent if it is invalid. */
export type RecordedVerdict = {
  readonly tenant: string;
  readonly npcId: string;
  /** The stream of the mind, if it is not that of the NPC. */
  readonly stream?: string;
  readonly turnId: string;
  readonly observation: string;
  readonly verdict: Verdict;
  readonly signing?: Signing;
  /** It was recorded a moment ago, and does not come from the store. */
  readonly isFresh?: boolean;
};

/** The question of `POST /verdicts/verify`; `tenant` is the caller's. */
export type VerificationQuestion = {
  readonly tenant: string;
  readonly npcId: string;
  readonly signature: string | undefined;
  readonly verdict: JsonObject;
  /** The rules that must have decided; members that are absent may have any value. */
  readonly ruleset?: ExpectedRuleset;
};
export type ExpectedRuleset = { readonly id?: string; readonly version?: number; readonly digest?: string };
export type VerificationReason =
  'malformed' | 'unknown_key' | 'bad_signature' | 'revoked_key' | 'other_npc' | 'other_verdict' | 'other_ruleset';
/** `signedAt` is the time of the verdict's event, in whole seconds as in the signature (RFC 3339). */
export type VerificationAnswer =
  | { readonly valid: true; readonly turnId: string; readonly revision: number; readonly signedAt: string }
  | { readonly valid: false; readonly reason: VerificationReason };

export type VerdictSigner = {
  /**
   * The compact JWS of a recorded verdict; null if it is invalid. The same record makes the same bytes.
   * @throws Rejection CHAIN_BROKEN if the store holds something else than was recorded; what the event store throws
   */
  sign(recorded: RecordedVerdict): Promise<string | null>;
  /**
   * Whether this server made a signature and it covers this verdict of this NPC; never throws because of a client's input. Propagates errors from the event
   * store.
   */
  verify(question: VerificationQuestion): Promise<VerificationAnswer>;
};

const TYPE = 'verdict+jwt';

const refused = (reason: VerificationReason): VerificationAnswer => ({ valid: false, reason });

const kidOf = (signature: string): string | null => {
  try {
    const { kid, typ, alg } = decodeProtectedHeader(signature);
    return typeof kid === 'string' && typ === TYPE && ED25519_ALGORITHMS.includes(alg ?? '') ? kid : null;
  } catch {
    return null;
  }
};

const claimsOf = (payload: Uint8Array): VerdictClaims | null => {
  try {
    const claims: unknown = JSON.parse(new TextDecoder().decode(payload));
    // It is signed with a key of this server, so an object has the members that this server wrote.
    return isObject(claims) ? (claims as unknown as VerdictClaims) : null;
  } catch {
    return null;
  }
};

type Verified = { readonly claims: VerdictClaims } | { readonly reason: VerificationReason };

const verified = async (keys: SigningKeys, signature: string): Promise<Verified> => {
  const kid = isCanonicalJws(signature) ? kidOf(signature) : null;
  if (kid === null) return { reason: 'malformed' };
  const key = await keys.publicKey(kid);
  if (key === undefined) return { reason: 'unknown_key' };
  try {
    const { payload } = await compactVerify(signature, key, { algorithms: ED25519_ALGORITHMS });
    const claims = claimsOf(payload);
    if (claims === null) return { reason: 'malformed' };
    return keys.isVoid(kid, new Date(claims.iat * 1_000)) ? { reason: 'revoked_key' } : { claims };
  } catch (error) {
    return { reason: error instanceof errors.JWSInvalid ? 'malformed' : 'bad_signature' };
  }
};

const decidedBy = ({ ruleset }: VerdictClaims, expected: ExpectedRuleset): boolean =>
  (['id', 'version', 'digest'] as const).every(
    (name) => expected[name] === undefined || expected[name] === ruleset?.[name],
  );

/**
 * Signs and verifies verdicts with the server's keys.
 * @param requireGood throws unless the stored events of a turn are what was recorded
 */
export const createVerdictSigner = (
  keys: SigningKeys,
  requireGood: (turn: TurnUpTo) => Promise<void>,
): VerdictSigner => ({
  sign: async ({ verdict, signing, stream, isFresh = false, ...recorded }) => {
    if (!verdict.valid || signing === undefined) return null;
    const { kid, ...facts } = signing;
    const { tenant, npcId, turnId } = recorded;
    if (!isFresh) await requireGood({ stream: stream ?? npcStream(tenant, npcId), turnId, revision: facts.revision });
    return keys.sign(kid, verdictClaims({ ...recorded, ...facts }, verdict), { typ: TYPE });
  },
  verify: async ({ tenant, npcId, signature, verdict, ruleset = {} }) => {
    if (signature === undefined) return refused('malformed');
    const outcome = await verified(keys, signature);
    if ('reason' in outcome) return refused(outcome.reason);
    const { claims } = outcome;
    if (claims.sub !== npcId || claims.tenant !== tenant) return refused('other_npc');
    const digested = verdictFromWire(verdict);
    if (digested === null || verdictDigest(digested) !== claims.verdictDigest) return refused('other_verdict');
    if (!decidedBy(claims, ruleset)) return refused('other_ruleset');
    const { jti, revision, iat } = claims;
    return { valid: true, turnId: jti, revision, signedAt: new Date(iat * 1_000).toISOString() };
  },
});
