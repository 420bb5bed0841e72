import { createHash } from 'node:crypto';

import type { Sliced } from '../../domain/rules/hold-patterns.js';

/** How many bytes are hashed before other work has its turn: about a millisecond. */
const SLICE_BYTES = 512 * 1024;

/** The digest of a payload (domain/shared/content-digest.ts), made in slices. */
export function* payloadDigest(bytes: Uint8Array): Sliced<string> {
  const digest = createHash('sha256');
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    digest.update(bytes.subarray(at, at + SLICE_BYTES));
    yield SLICE_BYTES;
  }
  return digest.digest('base64url');
}
