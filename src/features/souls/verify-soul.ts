import { compactVerify, decodeProtectedHeader, importJWK } from 'jose';

import { isContentDigest } from '../../kernel/crypto/content-digest.js';
import { isObject, type JsonObject } from '../../kernel/base/json.js';
import type { SoulSigner } from './domain/import-events.js';
import { ED25519_ALGORITHMS, isCanonicalJws } from '../../kernel/crypto/compact-jws.js';
import { ed25519Jwk, thumbprint } from '../../kernel/crypto/jwk.js';
import { disagreement, SOUL_TYPE } from './domain/claims.js';
import type { SoulDocument } from './domain/document.js';
import { hashSoul, fitsIntoSoul } from './domain/parts.js';
import { isSameServer } from './domain/same-server.js';
import type { SigningKeys } from '../../ports/signing-keys.js';
import { inSlices } from '../../kernel/concurrency/in-slices.js';
import { readSoul } from './soul-check.js';

/** All members of the header of a soul's signature: an unknown one could demand something of a verifier. */
const HEADER_MEMBERS = 'alg jwk kid typ';
const JWK_MEMBERS = 'crv kty x';

/** A server's trust in signers. */
export type SoulTrust = {
  readonly keys: Pick<SigningKeys, 'publicKey' | 'isVoid'>;
  /** This server's public URL. */
  readonly issuer: string;
  /** The kids whose souls are accepted, in addition to this server's own (`ANIMA_SOUL_TRUST`); null accepts any signer. */
  readonly trusted: ReadonlySet<string> | null;
};

/** Why a soul is refused. The codes are stable. */
export type SoulRefusal =
  | 'malformed'
  | 'too_large'
  | 'bad_signature'
  | 'wrong_root'
  | 'wrong_parts'
  | 'other_soul'
  | 'claims_our_server'
  | 'untrusted_signer'
  | 'revoked_key';
export type SoulVerification =
  | { readonly valid: true; readonly signer: SoulSigner; readonly kid: string; readonly soul: SoulDocument }
  | { readonly valid: false; readonly reason: SoulRefusal };

/** The same without the document, which is large. */
export type SoulJudgement =
  | { readonly valid: true; readonly signer: SoulSigner; readonly kid: string; readonly soulId: string }
  | { readonly valid: false; readonly reason: SoulRefusal };

/** The claimed signer of a soul. `isItsName`: the kid is the thumbprint of the key that signed. */
type SignedBy = {
  readonly kid: string;
  readonly isItsName: boolean;
  readonly issuer: string;
  readonly soulId: string;
  /** When it was sealed, by its own account. */
  readonly sealedAt: string;
};
/** A soul signed by a key, and the root that it signed; null if `isItsName` is false. */
type SignedSoul = SignedBy & { readonly soul: SoulDocument; readonly root: unknown };

/** Findings that depend only on the document, whoever is trusted: small, and permanent. `tampered`: the problem other than the signer. */
export type SoulFindings =
  { readonly wrong: SoulRefusal } | (SignedBy & { readonly tampered: 'too_large' | 'wrong_root' | null });

const refuse = (reason: SoulRefusal) => ({ valid: false, reason }) as const;

const hasOnly = (value: object, members: string): boolean => Object.keys(value).sort().join(' ') === members;

/** The key in the header of a signature; null if the header is not a soul's. */
const signerOf = (signature: string): { readonly kid: string; readonly x: string } | null => {
  try {
    const header = decodeProtectedHeader(signature);
    const { alg = '', typ, kid, jwk } = header;
    if (!hasOnly(header, HEADER_MEMBERS) || !isObject(jwk) || !hasOnly(jwk, JWK_MEMBERS)) return null;
    const { crv, kty, x } = jwk as JsonObject;
    const isKey = crv === 'Ed25519' && kty === 'OKP' && typeof x === 'string';
    const isName = typeof kid === 'string' && isContentDigest(kid);
    if (!isKey || !isName || typ !== SOUL_TYPE || !ED25519_ALGORITHMS.includes(alg)) return null;
    const bytes = Buffer.from(x, 'base64url');
    return bytes.length === 32 && bytes.toString('base64url') === x ? { kid, x } : null;
  } catch {
    return null;
  }
};

/** The claims under a signature; null if the key did not make it. */
const signedClaims = async (signature: string, x: string): Promise<JsonObject | null> => {
  try {
    const key = await importJWK(ed25519Jwk(x), 'EdDSA');
    const { payload } = await compactVerify(signature, key, { algorithms: ED25519_ALGORITHMS });
    const claims: unknown = JSON.parse(new TextDecoder().decode(payload));
    return isObject(claims) ? claims : null;
  } catch {
    return null;
  }
};

/** Checks shape and bounds first, then the signature by the key in the soul, then that the signature is about this soul. */
const signedSoul = async (document: unknown): Promise<SignedSoul | { readonly wrong: SoulRefusal }> => {
  const read = await inSlices(readSoul(document));
  if ('wrong' in read) return read;
  const { soul } = read;
  const signer = isCanonicalJws(soul.signature) ? signerOf(soul.signature) : null;
  if (signer === null) return { wrong: 'malformed' };
  const { kid, x } = signer;
  const by = { kid, issuer: soul.provenance.issuer, soulId: soul.id, sealedAt: soul.createdAt, soul };
  if (thumbprint(x) !== kid) return { ...by, isItsName: false, root: null };
  const claims = await signedClaims(soul.signature, x);
  if (claims === null) return { wrong: 'bad_signature' };
  const wrong = disagreement(claims, soul);
  return wrong === null ? { ...by, isItsName: true, root: claims['root'] } : { wrong };
};

/** Whose key it is; or why the soul is refused because of it. */
const trustedSigner = async (
  { kid, isItsName, issuer, sealedAt }: SignedBy,
  { keys, issuer: ours, trusted }: SoulTrust,
): Promise<SoulSigner | { readonly wrong: SoulRefusal }> => {
  const isOurs = (await keys.publicKey(kid)) !== undefined;
  if (!isItsName) return { wrong: isOurs ? 'claims_our_server' : 'malformed' };
  if (isOurs) return keys.isVoid(kid, new Date(sealedAt)) ? { wrong: 'revoked_key' } : 'ours';
  if (isSameServer(issuer, ours)) return { wrong: 'claims_our_server' };
  if (trusted === null) return 'unknown';
  return trusted.has(kid) ? 'known' : { wrong: 'untrusted_signer' };
};

/** Compares the parts with those that were signed; null if they agree. */
const tamperedWith = async ({ soul, root }: SignedSoul): Promise<'too_large' | 'wrong_root' | null> => {
  const hashed = await inSlices(hashSoul(soul));
  if (!fitsIntoSoul(hashed)) return 'too_large';
  return root === hashed.root && soul.trainingProof === hashed.root ? null : 'wrong_root';
};

/**
 * Verifies parsed JSON as a soul; whether its parts are those that were signed comes last. It never throws because of the content of the document.
 * Yields to other work in between. Propagates errors from the event store while it is down; recognising a foreign key may take a second (SigningKeys).
 */
export const verifySoul = async (document: unknown, trust: SoulTrust): Promise<SoulVerification> => {
  const signed = await signedSoul(document);
  if ('wrong' in signed) return refuse(signed.wrong);
  const signer = await trustedSigner(signed, trust);
  if (typeof signer !== 'string') return refuse(signer.wrong);
  const tampered = await tamperedWith(signed);
  return tampered === null ? { valid: true, signer, kid: signed.kid, soul: signed.soul } : refuse(tampered);
};

/** Everything except whose key it is: `judgeSoul` turns it into the result of `verifySoul`. Yields to other work in between. */
export const inspectSoul = async (document: unknown): Promise<SoulFindings> => {
  const signed = await signedSoul(document);
  if ('wrong' in signed) return signed;
  const { soul: _, root: __, ...by } = signed;
  return { ...by, tampered: signed.isItsName ? await tamperedWith(signed) : null };
};

/** Judges findings by the server's current trust and keys, which may change. Raises as `verifySoul`. */
export const judgeSoul = async (findings: SoulFindings, trust: SoulTrust): Promise<SoulJudgement> => {
  if ('wrong' in findings) return refuse(findings.wrong);
  const signer = await trustedSigner(findings, trust);
  if (typeof signer !== 'string') return refuse(signer.wrong);
  const { kid, soulId, tampered } = findings;
  return tampered === null ? { valid: true, signer, kid, soulId } : refuse(tampered);
};
