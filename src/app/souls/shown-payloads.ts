import { Rejection } from '../../domain/shared/rejection.js';

type Shown = { readonly bytes: Promise<Uint8Array | null>; readers: number };

/** A payload in memory. `close` once it is not needed any more; a second call does nothing. */
export type OpenPayload = { readonly bytes: Uint8Array; readonly close: () => void };

export type ShownPayloads = {
  /**
   * The payload if there is one, else null.
   * @param tenant who asks, where the reading depends on it; who asks for what another one reads already shares that
   * @throws Rejection BUSY when too many others are being read; what the reading raises
   */
  open(id: string, tenant?: string): Promise<OpenPayload | null>;
};

/**
 * Payloads as they are read: one that many read at the same time is in memory once.
 * @param most how many are in memory at once
 */
export const createShownPayloads = (
  read: (id: string, tenant: string) => Promise<Uint8Array | null>,
  most: number,
): ShownPayloads => {
  const shown = new Map<string, Shown>();
  const begin = (id: string, tenant: string): Shown => {
    if (shown.size >= most) throw new Rejection('BUSY', { retryAfter: 1 });
    const one = { bytes: read(id, tenant), readers: 0 };
    shown.set(id, one);
    return one;
  };
  return {
    open: async (id, tenant = '') => {
      const one = shown.get(id) ?? begin(id, tenant);
      one.readers += 1;
      let isOpen = true;
      const close = (): void => {
        if (isOpen) one.readers -= 1;
        isOpen = false;
        if (one.readers === 0 && shown.get(id) === one) shown.delete(id);
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
