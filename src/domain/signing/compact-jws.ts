import { isCanonicalBase64url } from '../shared/base64url.js';

/** The names under which an Ed25519 signature is taken: RFC 8037's, and RFC 9864's. */
export const ED25519_ALGORITHMS = ['EdDSA', 'Ed25519'];

/** The longest signature that is checked, in characters: ours fit into a header, and a longer one must not cause work. */
const SIGNATURE_CHARS = 16_384;

/** Whether every part of a compact JWS is written as an encoder writes it. */
export const isCanonicalJws = (signature: string): boolean =>
  signature.length <= SIGNATURE_CHARS && signature.split('.').every(isCanonicalBase64url);
