import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

import { thumbprint } from '../../kernel/crypto/jwk.js';
import type { Seals } from '../../kernel/crypto/seals.js';
import type { Random } from '../../ports/random.js';
import type { SigningAlgorithm } from '../../ports/signing-keys.js';
import type { MadeSigningKey } from './domain/signing-key-state.js';
import { NONCE_BYTES, wrap } from './key-wrap.js';

/** Bytes of an Ed25519 private key (RFC 8032). */
const SEED_BYTES = 32;
/** The bytes before them in PKCS #8 (RFC 8410, section 7). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The private key of a seed. */
export const privateKeyOf = (seed: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' });

/**
 * The nonce with which a server that seals events wraps a key. It belongs to the encryption, so it cannot be changed without the secret: it shows that
 * the key was not made by an older server, whose nonces are random. A kid is never used twice, and neither is its nonce.
 */
const nonceOf = (seals: Seals, kid: string): Uint8Array =>
  Buffer.from(seals.of(`signing key ${kid}`), 'base64url').subarray(0, NONCE_BYTES);

/** Whether a store has been sealed since its beginning: its first key was made by a server that seals events. */
export const isBornSealed = (seals: Seals, [first]: readonly MadeSigningKey[]): boolean =>
  first !== undefined && Buffer.from(first.wrapped.nonce, 'base64url').equals(nonceOf(seals, first.kid));

/** The public half of a key, base64url. */
export const publicHalf = (privateKey: KeyObject): string =>
  createPublicKey(privateKey).export({ format: 'jwk' }).x ?? '';

/** Makes a signing key from random bytes, in its stored form. */
export const makeSigningKey = ({
  random,
  wrapKey,
  seals,
  alg,
}: {
  readonly random: Random;
  readonly wrapKey: Uint8Array;
  /** Of events. */
  readonly seals: Seals;
  readonly alg: SigningAlgorithm;
}): MadeSigningKey => {
  const seed = random.bytes(SEED_BYTES);
  const x = publicHalf(privateKeyOf(seed));
  const kid = thumbprint(x);
  return { kid, alg, x, wrapped: wrap(wrapKey, kid, seed, nonceOf(seals, kid)) };
};
