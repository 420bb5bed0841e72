type Shown = { readonly bytes: Promise<Uint8Array | null>; readonly leave: () => void; readers: number };

/** A payload in memory. `close` once it is not needed any more; a second call does nothing. */
export type OpenPayload = { readonly bytes: Uint8Array; readonly close: () => void };

export type ShownPayloads = {
  /**
   * The payload if there is one, else null.
   * @param tenant who asks, where there is one: nobody shares what another tenant reads, nor the refusal of it
   * @throws what the taking of a place and the reading raise
   */
  open(id: string, tenant?: string): Promise<OpenPayload | null>;
};

/**
 * Payloads as they are read: one that many of a tenant read at the same time is in memory once.
 * @param enter takes a tenant's place for each that is in memory (pacing/places.ts)
 */
export const createShownPayloads = (
  read: (id: string, tenant: string) => Promise<Uint8Array | null>,
  enter: (tenant: string) => () => void,
): ShownPayloads => {
  const shown = new Map<string, Shown>();
  const begin = (key: string, id: string, tenant: string): Shown => {
    const leave = enter(tenant);
    const one = { bytes: read(id, tenant), leave, readers: 0 };
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
        one.leave();
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
