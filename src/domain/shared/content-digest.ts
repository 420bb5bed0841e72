import { createHash, hash } from 'node:crypto';

import type { Sliced } from '../rules/hold-patterns.js';

const CONTENT_DIGEST = /^[A-Za-z0-9_-]{43}$/;

/** How many bytes are hashed before other work has its turn: about a millisecond. */
const SLICE_BYTES = 512 * 1024;

/** The name of bytes by what they are: their SHA-256 in base64url. */
export const contentDigest = (bytes: Uint8Array): string => hash('sha256', bytes, 'base64url');

/** Whether a text has the form of such a name. Only then may it become part of a path. */
export const isContentDigest = (text: string): boolean => CONTENT_DIGEST.test(text);

/** The name of many bytes, made in slices. */
export function* contentDigestInSlices(bytes: Uint8Array): Sliced<string> {
  const digest = createHash('sha256');
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    digest.update(bytes.subarray(at, at + SLICE_BYTES));
    yield SLICE_BYTES;
  }
  return digest.digest('base64url');
}
