import { hash } from 'node:crypto';

/** SHA-256 of bytes, or of a text in UTF-8, in lower-case hex. */
export const sha256Hex = (text: string | Uint8Array): string => hash('sha256', text, 'hex');

/** SHA-256 of bytes, or of a text in UTF-8, in base64url. */
export const sha256Base64url = (text: string | Uint8Array): string => hash('sha256', text, 'base64url');

/** The length of a short digest in base64url: 132 bits, so no two texts share one by chance. */
const SHORT_CHARACTERS = 22;

/** The beginning of a text's SHA-256 in base64url, to distinguish texts. */
export const shortDigest = (text: string): string => sha256Base64url(text).slice(0, SHORT_CHARACTERS);
