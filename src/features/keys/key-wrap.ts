import { createCipheriv, createDecipheriv } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
/** Bytes of a nonce. It is random, and one wrapping key is enough for far more keys than a server ever makes. */
export const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A secret under AES-256-GCM: nonce and ciphertext with tag, base64url. */
export type Wrapped = { readonly nonce: string; readonly sealed: string };

/**
 * Encrypts a secret for storage.
 * @param wrapKey 32 bytes
 * @param name bound to the ciphertext, which then cannot replace another one
 * @param nonce NONCE_BYTES unpredictable bytes, never used twice with one key
 */
export const wrap = (wrapKey: Uint8Array, name: string, secret: Uint8Array, nonce: Uint8Array): Wrapped => {
  const cipher = createCipheriv(CIPHER, wrapKey, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(name));
  const sealed = Buffer.concat([cipher.update(secret), cipher.final(), cipher.getAuthTag()]);
  return { nonce: Buffer.from(nonce).toString('base64url'), sealed: sealed.toString('base64url') };
};

/** The secret, or null if key, name or bytes differ from the wrapping. */
export const unwrap = (wrapKey: Uint8Array, name: string, wrapped: Wrapped): Uint8Array | null => {
  const nonce = Buffer.from(wrapped.nonce, 'base64url');
  const sealed = Buffer.from(wrapped.sealed, 'base64url');
  if (nonce.length !== NONCE_BYTES || sealed.length < TAG_BYTES) return null;
  const decipher = createDecipheriv(CIPHER, wrapKey, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(name));
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()]);
  } catch {
    return null;
  }
};
