import { jcsSlices } from '../../domain/shared/jcs-slices.js';
import type { Json } from '../../domain/shared/json.js';
import { inSlices } from '../../concurrency/in-slices.js';
import { payloadDigest } from './payload-digest.js';

/**
 * The JCS form of a document, and the digest that names it (contract 8.1). The work lets others run in between.
 * @throws Error as `jcs`
 */
export const canonicalPayload = async (
  document: Json,
): Promise<{ readonly bytes: Uint8Array; readonly digest: string }> => {
  const bytes = await inSlices(jcsSlices(document));
  return { bytes, digest: await inSlices(payloadDigest(bytes)) };
};
