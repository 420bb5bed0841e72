/** How many keys' last writes are remembered; the key that has not written for longest goes first. */
export const WRITERS_KEPT = 10_000;

/** The global position of each key's last write through this server. Its lists over all minds wait for it (contract 1.8). */
export type Written = {
  noted(keyId: string, position: number): void;
  /** 0 when the key wrote nothing here. */
  position(keyId: string): number;
};

export const createWritten = (kept: number = WRITERS_KEPT): Written => {
  const positions = new Map<string, number>();
  return {
    noted(keyId, position) {
      const before = positions.get(keyId) ?? 0;
      if (position <= before) return;
      positions.delete(keyId);
      positions.set(keyId, position);
      const [oldest] = positions.keys();
      if (positions.size > kept && oldest !== undefined) positions.delete(oldest);
    },
    position: (keyId) => positions.get(keyId) ?? 0,
  };
};
