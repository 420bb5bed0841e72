import { Rejection } from '../../domain/shared/rejection.js';
import type { SoulArchive } from '../../ports/soul-archive.js';

/** How many payloads are in memory at once for those that read them: at most 512 MiB, and only if all are of the largest. */
export const SHOWN_PAYLOADS = 32;

type Shown = { readonly bytes: Promise<Uint8Array | null>; readers: number };

/** A payload in memory. `close` once it is not needed any more; a second call does nothing. */
export type OpenPayload = { readonly bytes: Uint8Array; readonly close: () => void };

export type ShownPayloads = {
  /** The payload if it is public, else null. @throws Rejection BUSY when too many others are being read; what the archive raises */
  open(digest: string): Promise<OpenPayload | null>;
};

/** Public payloads as they are read: one that many read at the same time is in memory once. */
export const createShownPayloads = (archive: Pick<SoulArchive, 'readPublic'>): ShownPayloads => {
  const shown = new Map<string, Shown>();
  const begin = (digest: string): Shown => {
    if (shown.size >= SHOWN_PAYLOADS) throw new Rejection('BUSY', { retryAfter: 1 });
    const one = { bytes: archive.readPublic(digest), readers: 0 };
    shown.set(digest, one);
    return one;
  };
  return {
    open: async (digest) => {
      const one = shown.get(digest) ?? begin(digest);
      one.readers += 1;
      let isOpen = true;
      const close = (): void => {
        if (isOpen) one.readers -= 1;
        isOpen = false;
        if (one.readers === 0 && shown.get(digest) === one) shown.delete(digest);
      };
      try {
        const bytes = await one.bytes;
        if (bytes !== null) return { bytes, close };
      } catch (error) {
        close();
        throw error;
      }
      close();
      return null;
    },
  };
};
