import { isContentDigest } from '../../kernel/crypto/content-digest.js';
import type { SoulArchive } from '../../ports/soul-archive.js';

/**
 * The digest for an id in the built-in archive: a digest is its own id, a CID stands for the soul exported under it. Null for any other id. Propagates
 * errors from the archive.
 */
export const keptDigest = async (archive: Pick<SoulArchive, 'digestOfCid'>, id: string): Promise<string | null> =>
  isContentDigest(id) ? id : archive.digestOfCid(id);

/** The public payload that the built-in archive has under an id; null if it has none. Propagates errors from the archive. */
export const keptPayload = async (
  archive: Pick<SoulArchive, 'digestOfCid' | 'readPublic'>,
  id: string,
): Promise<Uint8Array | null> => {
  const digest = await keptDigest(archive, id);
  return digest === null ? null : archive.readPublic(digest);
};
