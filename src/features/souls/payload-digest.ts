import { inSlices } from '../../kernel/concurrency/in-slices.js';
import { payloadDigest } from '../../kernel/crypto/content-digest.js';
import { jcsSlices } from '../../kernel/base/jcs-slices.js';
import type { Json } from '../../kernel/base/json.js';

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
