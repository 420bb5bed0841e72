import { createHash, hash } from 'node:crypto';

import type { Sliced } from '../base/sliced.js';

const CONTENT_DIGEST = /^[A-Za-z0-9_-]{43}$/;

/** The content address of bytes: their SHA-256 in base64url. */
export const contentDigest = (bytes: Uint8Array): string => hash('sha256', bytes, 'base64url');

/** How many bytes are hashed before other work runs: about a millisecond. */
const SLICE_BYTES = 512 * 1024;

/** The content address of a payload of any size, made in slices. */
export function* payloadDigest(bytes: Uint8Array): Sliced<string> {
  const digest = createHash('sha256');
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    digest.update(bytes.subarray(at, at + SLICE_BYTES));
    yield SLICE_BYTES;
  }
  return digest.digest('base64url');
}

/** Whether a text has the form of such a digest. Only then may it become part of a path. */
export const isContentDigest = (text: string): boolean => CONTENT_DIGEST.test(text);
