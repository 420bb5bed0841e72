import type { KeyObject } from 'node:crypto';
import type { JsonObject } from '../domain/shared/json.js';

/** The word for the algorithm in a header: `Ed25519` (RFC 9864), or `EdDSA` for libraries that know no other (contract 2.9). */
export type SigningAlgorithm = 'Ed25519' | 'EdDSA';

/**
 * The keys that verdicts are signed with. Old keys stay: a verdict recorded under one is signed under it again.
 *
 * Signatures are deterministic: the same key and claims make the same bytes.
 * Failures: `sign` rejects with an Error for a kid that it never made, which is a defect: events name only our own kids.
 */
export interface SigningKeys {
  /** What new verdicts are signed with. */
  readonly current: { readonly kid: string; readonly alg: SigningAlgorithm };
  /** A compact JWS (RFC 7515) of the claims, header `alg`, `typ: verdict+jwt` and `kid`. */
  sign(kid: string, claims: JsonObject): Promise<string>;
  /** The public half of a key; undefined when there is none of this kid. */
  publicKey(kid: string): KeyObject | undefined;
  /** Every public key, old ones included, as the members of a JWK set (RFC 7517). */
  publicJwks(): readonly JsonObject[];
}
