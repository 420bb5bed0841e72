import { compactVerify, decodeProtectedHeader, importJWK } from 'jose';

import type { Sliced } from '../../domain/rules/hold-patterns.js';
import { isObject, type Json, type JsonObject } from '../../domain/shared/json.js';
import { jsonBytes } from '../../domain/shared/json-bytes.js';
import { Rejection } from '../../domain/shared/rejection.js';
import { ED25519_ALGORITHMS, isCanonicalJws } from '../../domain/signing/compact-jws.js';
import { isSameServer } from '../../domain/soul/same-server.js';
import { ed25519Jwk, thumbprint } from '../../domain/signing/jwk.js';
import {
  fewestBytes,
  MAX_PART_BYTES,
  MAX_SOUL_BYTES,
  MAX_SOUL_DEPTH,
  MAX_SOUL_MEMORIES,
} from '../../domain/soul/bounds.js';
import { disagreement, soulClaims } from '../../domain/soul/claims.js';
import type { SoulSigner } from '../../domain/shared/soul-origin.js';
import type { SoulDocument, SoulMemory, UnsignedSoul } from '../../domain/soul/document.js';
import { type HashedSoul, hashSoul } from '../../domain/soul/parts.js';
import type { SigningKeys } from '../../ports/signing-keys.js';
import { inSlices } from '../pacing/in-slices.js';
import { readSoul } from './soul-check.js';

const TYPE = 'soul+jwt';
/** Every member of the header of a soul's signature: one that a verifier does not know could ask it for something. */
const HEADER_MEMBERS = 'alg jwk kid typ';
const JWK_MEMBERS = 'crv kty x';

/** How many memories are looked at before others have their turn: each may have 768 KiB. */
const MEMORIES_A_SLICE = 8;

/** As a refusal tells them. */
const SOUL_BOUNDS = {
  limitBytes: MAX_SOUL_BYTES,
  partLimitBytes: MAX_PART_BYTES,
  memoriesLimit: MAX_SOUL_MEMORIES,
  depthLimit: MAX_SOUL_DEPTH,
};

const isWithin = ({ bytes, longestPart }: HashedSoul): boolean =>
  bytes <= MAX_SOUL_BYTES && longestPart <= MAX_PART_BYTES;

/** `depth`: how many lists and objects it stands in. */
function* isTooLarge(part: Json, depth: number): Sliced<boolean> {
  return (yield* fewestBytes(part, depth, MAX_PART_BYTES)) === 'too_large' || jsonBytes(part) > MAX_PART_BYTES;
}

/** What alone is too long or too deep for a soul: its first such memory, or its state; nothing when only the whole is too large. */
const culprit = async ({ memories, state }: UnsignedSoul): Promise<JsonObject> => {
  const memory = await inSlices(firstTooLarge(memories));
  if (memory !== undefined) return { memoryId: memory.id };
  return (await inSlices(isTooLarge(state, 1))) ? { member: 'state' } : {};
};

function* firstTooLarge(memories: readonly SoulMemory[]): Sliced<SoulMemory | undefined> {
  for (const [place, memory] of memories.entries()) {
    if (yield* isTooLarge(memory, 2)) return memory;
    if (place % MEMORIES_A_SLICE === 0) yield MEMORIES_A_SLICE;
  }
  return undefined;
}

/**
 * Signs a soul (contract 8.7). The same soul signed by the same key is the same document. The work lets others run in between.
 * @param issuer this server's public URL, which the soul's provenance names too
 * @param kid the key; for a soul that is signed again the one that signed it first
 * @throws Rejection SOUL_TOO_LARGE; Error for a soul of another issuer or that breaks its schema; and as SigningKeys.sign
 */
export const signSoul = async (
  keys: SigningKeys,
  issuer: string,
  unsigned: UnsignedSoul,
  kid: string = keys.current.kid,
): Promise<SoulDocument> => {
  if (unsigned.provenance.issuer !== issuer) throw new Error('a soul is signed by the server that it names');
  const hashed = await inSlices(hashSoul(unsigned));
  const claims = soulClaims(unsigned, hashed.root);
  const signature = await keys.sign(kid, claims, { typ: TYPE, withJwk: true });
  const signed = { ...unsigned, trainingProof: hashed.root, signature };
  const read = await inSlices(readSoul(signed));
  const bytes = hashed.bytes + hashed.root.length + signature.length;
  if (!isWithin({ ...hashed, bytes }) || ('wrong' in read && read.wrong === 'too_large')) {
    throw new Rejection('SOUL_TOO_LARGE', { details: { bytes, ...(await culprit(unsigned)), ...SOUL_BOUNDS } });
  }
  if ('wrong' in read) throw new Error('a soul was made that is none');
  return signed;
};

/** Whom a server trusts. */
export type SoulTrust = {
  readonly keys: Pick<SigningKeys, 'publicKey'>;
  /** This server's public URL. */
  readonly issuer: string;
  /** The kids whose souls are taken, besides this server's own (`ANIMA_SOUL_TRUST`); null takes those of any signer. */
  readonly trusted: ReadonlySet<string> | null;
};

/** Why a soul is not taken. The words are stable. */
export type SoulRefusal =
  | 'malformed'
  | 'too_large'
  | 'bad_signature'
  | 'wrong_root'
  | 'wrong_parts'
  | 'other_soul'
  | 'claims_our_server'
  | 'untrusted_signer';
export type SoulVerification =
  | { readonly valid: true; readonly signer: SoulSigner; readonly kid: string; readonly soul: SoulDocument }
  | { readonly valid: false; readonly reason: SoulRefusal };

const refuse = (reason: SoulRefusal): SoulVerification => ({ valid: false, reason });

const hasOnly = (value: object, members: string): boolean => Object.keys(value).sort().join(' ') === members;

/** The key that a signature names and brings; null when its header is not one of a soul's. */
const signerOf = (signature: string): { readonly kid: string; readonly x: string } | null => {
  try {
    const header = decodeProtectedHeader(signature);
    const { alg = '', typ, kid, jwk } = header;
    if (!hasOnly(header, HEADER_MEMBERS) || !isObject(jwk) || !hasOnly(jwk, JWK_MEMBERS)) return null;
    const { crv, kty, x } = jwk as JsonObject;
    const isKey = crv === 'Ed25519' && kty === 'OKP' && typeof x === 'string';
    if (!isKey || typeof kid !== 'string' || typ !== TYPE || !ED25519_ALGORITHMS.includes(alg)) return null;
    const bytes = Buffer.from(x, 'base64url');
    return bytes.length === 32 && bytes.toString('base64url') === x ? { kid, x } : null;
  } catch {
    return null;
  }
};

/** The claims under a signature; null when the key did not make it. */
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

/**
 * Verifies parsed JSON as a soul (contract 8.4, 8.7): shape and bounds first, then the signature by the key that the soul brings, then that the
 * signature is about this soul, then whose key it is. It never throws for what stands in the document. The work lets others run in between.
 * Raises what the event store raises while it is down; a key that is not ours may take a second to be called so (SigningKeys).
 */
export const verifySoul = async (document: unknown, trust: SoulTrust): Promise<SoulVerification> => {
  const read = await inSlices(readSoul(document));
  if ('wrong' in read) return refuse(read.wrong);
  const { soul } = read;
  const signer = isCanonicalJws(soul.signature) ? signerOf(soul.signature) : null;
  if (signer === null) return refuse('malformed');
  const { kid, x } = signer;
  const isItsName = thumbprint(x) === kid;
  const claims = isItsName ? await signedClaims(soul.signature, x) : null;
  if (isItsName && claims === null) return refuse('bad_signature');
  const isOurs = (await trust.keys.publicKey(kid)) !== undefined;
  if (claims === null) return refuse(isOurs ? 'claims_our_server' : 'malformed');
  const wrong = disagreement(claims, soul);
  if (wrong !== null) return refuse(wrong);
  if (!isOurs && isSameServer(soul.provenance.issuer, trust.issuer)) return refuse('claims_our_server');
  const isKnown = trust.trusted?.has(kid) ?? false;
  if (!isOurs && !isKnown && trust.trusted !== null) return refuse('untrusted_signer');
  const hashed = await inSlices(hashSoul(soul));
  if (!isWithin(hashed)) return refuse('too_large');
  if (claims['root'] !== hashed.root || soul.trainingProof !== hashed.root) return refuse('wrong_root');
  return { valid: true, signer: isOurs ? 'ours' : isKnown ? 'known' : 'unknown', kid, soul };
};
