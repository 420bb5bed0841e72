import { hash } from 'node:crypto';

const CONTENT_DIGEST = /^[A-Za-z0-9_-]{43}$/;

/** The name of bytes by what they are: their SHA-256 in base64url. */
export const contentDigest = (bytes: Uint8Array): string => hash('sha256', bytes, 'base64url');

/** Whether a text has the form of such a name. Only then may it become part of a path. */
export const isContentDigest = (text: string): boolean => CONTENT_DIGEST.test(text);
