import { createHash } from 'node:crypto';

import { inSlices } from '../../kernel/concurrency/in-slices.js';
import type { Sliced } from '../../kernel/base/sliced.js';
import { jcsSlices } from '../../kernel/base/jcs-slices.js';
import type { Json } from '../../kernel/base/json.js';

/** How many bytes are hashed before other work runs: about a millisecond. */
const SLICE_BYTES = 512 * 1024;

/** The digest of a payload (kernel/crypto/content-digest.ts), made in slices. */
export function* payloadDigest(bytes: Uint8Array): Sliced<string> {
  const digest = createHash('sha256');
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    digest.update(bytes.subarray(at, at + SLICE_BYTES));
    yield SLICE_BYTES;
  }
  return digest.digest('base64url');
}

/**
 * The JCS form of a document, and its digest, which is its id. Yields to other work in between.
 * @throws Error as `jcs`
 */
export const canonicalPayload = async (
  document: Json,
): Promise<{ readonly bytes: Uint8Array; readonly digest: string }> => {
  const bytes = await inSlices(jcsSlices(document));
  return { bytes, digest: await inSlices(payloadDigest(bytes)) };
};
