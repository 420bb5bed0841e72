import type { Semaphore } from '../../kernel/concurrency/semaphore.js';

type Shown = { readonly bytes: Promise<Uint8Array | null>; readonly release: () => void; readers: number };

/** A payload in memory. Call `close` once it is no longer needed; a second call does nothing. */
export type OpenPayload = { readonly bytes: Uint8Array; readonly close: () => void };

export type ShownPayloads = {
  /**
   * The payload, or null if there is none.
   * @param tenant the caller's tenant, if there is one: tenants share neither reads nor the refusals of reads
   * @throws Rejection BUSY without a permit, and errors from the reading
   */
  open(id: string, tenant?: string): Promise<OpenPayload | null>;
};

/**
 * Payloads that are being read: one that is read several times concurrently for a tenant is in memory once.
 * @param permits one is held for each payload in memory
 */
export const createShownPayloads = (
  read: (id: string, tenant: string) => Promise<Uint8Array | null>,
  permits: Semaphore,
): ShownPayloads => {
  const shown = new Map<string, Shown>();
  const begin = (key: string, id: string, tenant: string): Shown => {
    const release = permits.acquire(tenant);
    const one = { bytes: read(id, tenant), release, readers: 0 };
    shown.set(key, one);
    return one;
  };
  return {
    open: async (id, tenant = '') => {
      const key = JSON.stringify([tenant, id]);
      const one = shown.get(key) ?? begin(key, id, tenant);
      one.readers += 1;
      let isOpen = true;
      const close = (): void => {
        if (!isOpen) return;
        isOpen = false;
        one.readers -= 1;
        if (one.readers > 0) return;
        shown.delete(key);
        one.release();
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
