import type { KeyObject } from 'node:crypto';
import type { JsonObject } from '../kernel/base/json.js';

/** The algorithm's name in a header: `EdDSA` (RFC 8037), which every library supports, or `Ed25519` (RFC 9864), which some refuse. */
export type SigningAlgorithm = 'EdDSA' | 'Ed25519';

/** The purpose of a signature: `typ` in its header. `withJwk` adds the public key to it, for readers that cannot ask this server for it. */
export type JwsHeader = {
  readonly typ: 'verdict+jwt' | 'soul+jwt' | 'archive-grant+jwt' | 'player+jwt';
  readonly withJwk?: true;
};

/**
 * The keys that sign verdicts, souls, checkpoints and tokens. Old keys are kept: a verdict recorded under one is signed under it again.
 *
 * Signatures are deterministic: the same key and claims make the same bytes. Other servers on the same store may make keys at any time. So a kid
 * counts as unknown only after a read of the store that began after the question. There is at most one such read a second, so an answer about an
 * unknown kid takes up to a second.
 * Failures: `sign` and `signText` reject with an Error for a kid that no server made. This is a defect, because events name only kids of this store.
 * They also throw what the event store throws while it is down.
 */
export interface SigningKeys {
  /** The key that signs now. A rotation changes it: read it for each signature. */
  readonly current: { readonly kid: string; readonly alg: SigningAlgorithm };
  /** A compact JWS (RFC 7515) of the claims, header `alg`, `typ`, `kid` and, if requested, `jwk`. */
  sign(kid: string, claims: JsonObject, header: JwsHeader): Promise<string>;
  /** The bare Ed25519 signature of a text in UTF-8, 64 bytes, and the public key (`x` of its JWK). Fails like `sign`. */
  signText(kid: string, text: string): Promise<{ readonly signature: Uint8Array; readonly x: string }>;
  /** The public half of a key; undefined if no key has this kid. */
  publicKey(kid: string): Promise<KeyObject | undefined>;
  /**
   * Whether signatures of this key that claim this time no longer count, because the key was revoked. The time comes from whoever signed: for what
   * must be valid now, ask with the present.
   */
  isVoid(kid: string, at: Date): boolean;
  /** Every public key, old and revoked ones included, as the members of a JWK set (RFC 7517). If the store answers, the set is at most a second old. */
  publicJwks(): Promise<readonly JsonObject[]>;
}
