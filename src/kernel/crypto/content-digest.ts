import { hash } from 'node:crypto';

const CONTENT_DIGEST = /^[A-Za-z0-9_-]{43}$/;

/** The content address of bytes: their SHA-256 in base64url. */
export const contentDigest = (bytes: Uint8Array): string => hash('sha256', bytes, 'base64url');

/** Whether a text has the form of such a digest. Only then may it become part of a path. */
export const isContentDigest = (text: string): boolean => CONTENT_DIGEST.test(text);
