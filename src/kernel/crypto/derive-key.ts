import { hkdfSync } from 'node:crypto';

/** Every use of the server's secret has its own key, so no key reveals anything about another. */
export type SecretUse = 'api-key-hash' | 'signing-key-wrap' | 'event-mac' | 'snapshot-mac';

/**
 * 32 bytes for one use: HKDF-SHA256 (RFC 5869) of the secret, labelled with the use.
 * @param secret the server's secret, at least 32 bytes
 */
export const deriveKey = (secret: Uint8Array, use: SecretUse): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', secret, '', `anima/v1/${use}`, 32));
