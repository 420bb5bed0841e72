import { LRUCache } from 'lru-cache';

/** How many keys' last writes are remembered; the key whose last write is oldest is evicted first. */
export const WRITERS_KEPT = 10_000;

/** The global position of each key's last write through this server. The key's lists over all minds wait for it. */
export type Written = {
  noted(keyId: string, position: number): void;
  /** 0 if the key wrote nothing here. */
  position(keyId: string): number;
};

export const createWritten = (kept: number = WRITERS_KEPT): Written => {
  const positions = new LRUCache<string, number>({ max: kept });
  return {
    noted(keyId, position) {
      if (position > (positions.peek(keyId) ?? 0)) positions.set(keyId, position);
    },
    position: (keyId) => positions.peek(keyId) ?? 0,
  };
};
