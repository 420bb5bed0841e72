import type { SoulDocument } from '../../domain/soul/document.js';
import type { SoulArchive } from '../../ports/soul-archive.js';

/**
 * The document that this server sealed and keeps under a digest.
 * @throws Error when it is gone: it is kept until its export has ended. Raises what the archive raises
 */
export const sealedSoul = async (archive: Pick<SoulArchive, 'read'>, digest: string): Promise<SoulDocument> => {
  const bytes = await archive.read(digest);
  if (bytes === null) throw new Error(`the archive has lost the sealed soul ${digest}`);
  return JSON.parse(new TextDecoder().decode(bytes)) as SoulDocument;
};
