/** The accepted names of an Ed25519 signature: RFC 8037's and RFC 9864's. */
export const ED25519_ALGORITHMS = ['EdDSA', 'Ed25519'];

/** The longest signature that is checked, in characters: signatures of this server fit into a header, and a longer one must not cause work. */
const SIGNATURE_CHARS = 16_384;

/**
 * Whether every part is base64url as an encoder writes it: no padding, no white space, unused bits zero. Decoders are more lenient, so one signature
 * could have many texts, and a program that compares or stores them would treat them as different signatures.
 */
export const isCanonicalJws = (signature: string): boolean =>
  signature.length <= SIGNATURE_CHARS &&
  signature.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
