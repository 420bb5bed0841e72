import type { SoulDocument } from '../../domain/soul/document.js';
import type { SoulArchive } from '../../ports/soul-archive.js';

/** The document that this server sealed and keeps under a digest; null when it is there no more. Raises what the archive raises. */
export const sealedSoul = async (archive: Pick<SoulArchive, 'read'>, digest: string): Promise<SoulDocument | null> => {
  const bytes = await archive.read(digest);
  return bytes === null ? null : (JSON.parse(new TextDecoder().decode(bytes)) as SoulDocument);
};
