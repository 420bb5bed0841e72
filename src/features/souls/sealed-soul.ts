import { inSlices } from '../../kernel/concurrency/in-slices.js';
import { yieldToEventLoop } from '../../kernel/concurrency/yield-to-event-loop.js';
import type { SoulDocument } from './domain/document.js';
import { utf8Slices } from '../../kernel/base/utf8-slices.js';
import type { SoulArchive } from '../../ports/soul-archive.js';

/** The document that this server sealed and stores under a digest; null if it no longer exists. Propagates errors from the archive. */
export const sealedSoul = async (archive: Pick<SoulArchive, 'read'>, digest: string): Promise<SoulDocument | null> => {
  const bytes = await archive.read(digest);
  if (bytes === null) return null;
  const text = await inSlices(utf8Slices(bytes));
  await yieldToEventLoop();
  const document = JSON.parse(text) as SoulDocument;
  await yieldToEventLoop();
  return document;
};
