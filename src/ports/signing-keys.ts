import type { KeyObject } from 'node:crypto';
import type { JsonObject } from '../kernel/base/json.js';

/** The algorithm's name in a header: `EdDSA` (RFC 8037), which every library knows, or `Ed25519` (RFC 9864), which some refuse. */
export type SigningAlgorithm = 'EdDSA' | 'Ed25519';

/** What a signature is for: `typ` in its header. `withJwk` puts the public key there too, for those who cannot ask this server for it. */
export type JwsHeader = { readonly typ: 'verdict+jwt' | 'soul+jwt' | 'archive-grant+jwt'; readonly withJwk?: true };

/**
 * The keys that verdicts, souls and checkpoints are signed with. Old keys stay: a verdict recorded under one is signed under it again.
 *
 * Signatures are deterministic: the same key and claims make the same bytes. Other servers on the same store may make keys at any time. So a kid
 * counts as unknown only after a look at the store that began after the question. There is at most one such look a second, so an answer about an
 * unknown kid takes up to a second.
 * Failures: `sign` and `signText` reject with an Error for a kid that no server made. This is a defect, because events name only our own kids. It also raises what
 * the event store raises while it is down.
 */
export interface SigningKeys {
  /** What is signed with now. */
  readonly current: { readonly kid: string; readonly alg: SigningAlgorithm };
  /** A compact JWS (RFC 7515) of the claims, header `alg`, `typ`, `kid` and, if asked for, `jwk`. */
  sign(kid: string, claims: JsonObject, header: JwsHeader): Promise<string>;
  /** The bare Ed25519 signature of a text in UTF-8, 64 bytes, and the public key (`x` of its JWK). Fails as `sign`. */
  signText(kid: string, text: string): Promise<{ readonly signature: Uint8Array; readonly x: string }>;
  /** The public half of a key; undefined when no key has this kid. */
  publicKey(kid: string): Promise<KeyObject | undefined>;
  /** Every public key, old ones included, as the members of a JWK set (RFC 7517). If the store answers, the set is at most a second old. */
  publicJwks(): Promise<readonly JsonObject[]>;
}
