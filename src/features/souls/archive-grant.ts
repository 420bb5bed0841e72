import { compactVerify, decodeProtectedHeader } from 'jose';

import { isContentDigest } from '../../kernel/crypto/content-digest.js';
import { isObject, type JsonObject } from '../../kernel/base/json.js';
import { ED25519_ALGORITHMS, isCanonicalJws } from '../../kernel/crypto/compact-jws.js';
import type { Clock } from '../../ports/clock.js';
import type { SigningKeys } from '../../ports/signing-keys.js';

/** The `typ` that grants are signed with: no other signature of this server authorises an upload. */
export const ARCHIVE_GRANT_TYPE = 'archive-grant+jwt';

/** The audience of a grant. Not the server's address, which may change before the grant expires. */
const AUDIENCE = 'archive';

/** Permission to upload one payload. */
export type ArchiveGrant = {
  /** The payload's digest: the SHA-256 of its JCS form in base64url. */
  readonly digest: string;
  /** The tenant that staged it. */
  readonly tenant: string;
  readonly npcId: string;
  /** The export that it is for. */
  readonly soulId: string;
  readonly expiresAt: Date;
};

export type GrantSigning = {
  /** A compact JWS (RFC 7515) of the claims under the current key, with `typ` ARCHIVE_GRANT_TYPE. */
  readonly sign: (claims: JsonObject) => Promise<string>;
  /** This server, as named in verdicts. */
  readonly issuer: string;
};

export type GrantChecking = {
  readonly keys: Pick<SigningKeys, 'publicKey' | 'isVoid'>;
  readonly clock: Pick<Clock, 'now'>;
};

/** Signs a grant. It expires at a full second (RFC 7519), never after `expiresAt`. Propagates errors from `sign`. */
export const issueArchiveGrant = (
  { sign, issuer }: GrantSigning,
  { digest, tenant, npcId, soulId, expiresAt }: ArchiveGrant,
): Promise<string> =>
  sign({
    iss: issuer,
    aud: AUDIENCE,
    sub: digest,
    tenant,
    npcId,
    soulId,
    exp: Math.floor(expiresAt.getTime() / 1_000),
  });

const kidOf = (grant: string): string | null => {
  if (!isCanonicalJws(grant)) return null;
  try {
    const { kid, typ, alg } = decodeProtectedHeader(grant);
    return typeof kid === 'string' && typ === ARCHIVE_GRANT_TYPE && ED25519_ALGORITHMS.includes(alg ?? '') ? kid : null;
  } catch {
    return null;
  }
};

const grantOf = (payload: Uint8Array): ArchiveGrant | null => {
  const claims: unknown = JSON.parse(new TextDecoder().decode(payload));
  if (!isObject(claims)) return null;
  const { aud, sub, tenant, npcId, soulId, exp } = claims;
  if (aud !== AUDIENCE || typeof sub !== 'string' || !isContentDigest(sub)) return null;
  if (typeof tenant !== 'string' || typeof npcId !== 'string' || typeof exp !== 'number') return null;
  if (typeof soulId !== 'string') return null;
  return { digest: sub, tenant, npcId, soulId, expiresAt: new Date(exp * 1_000) };
};

/**
 * The permission in a grant; null if the grant is not from this server, for another purpose, or expired. Never throws because of a client's input.
 * Propagates errors from `keys`.
 */
export const readArchiveGrant = async ({ keys, clock }: GrantChecking, grant: string): Promise<ArchiveGrant | null> => {
  const kid = kidOf(grant);
  const key = kid === null ? undefined : await keys.publicKey(kid);
  // Whoever has a revoked key can write any time into a grant.
  if (kid === null || key === undefined || keys.isVoid(kid, clock.now())) return null;
  try {
    const { payload } = await compactVerify(grant, key, { algorithms: ED25519_ALGORITHMS });
    const allowed = grantOf(payload);
    return allowed === null || allowed.expiresAt <= clock.now() ? null : allowed;
  } catch {
    return null;
  }
};
