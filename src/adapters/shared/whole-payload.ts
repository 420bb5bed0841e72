import { createHash } from 'node:crypto';

import { MAX_ARCHIVED_BYTES } from '../../ports/soul-archive.js';

/** Assembles a payload that is read in pieces, yielding to other work between them. Null if it does not match the digest. */
export const wholePayload = async (digest: string, pieces: AsyncIterable<Uint8Array>): Promise<Buffer | null> => {
  const hash = createHash('sha256');
  const read: Uint8Array[] = [];
  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    if (size > MAX_ARCHIVED_BYTES) return null;
    hash.update(piece);
    read.push(piece);
  }
  return hash.digest('base64url') === digest ? Buffer.concat(read) : null;
};
