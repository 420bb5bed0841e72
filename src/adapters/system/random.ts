import { randomFillSync } from 'node:crypto';

import type { Random } from '../../ports/random.js';

/** How many bytes are drawn in one call: a draw costs the same for 12 bytes as for thousands. */
const POOL_BYTES = 8_192;

const createPool = (): Random => {
  const pool = Buffer.alloc(POOL_BYTES);
  let used = POOL_BYTES;
  return {
    bytes: (count) => {
      if (count > POOL_BYTES) return new Uint8Array(randomFillSync(Buffer.alloc(count)));
      if (used + count > POOL_BYTES) {
        randomFillSync(pool);
        used = 0;
      }
      // Copied out and wiped, so that the bytes exist nowhere else and are never returned again.
      const drawn = Uint8Array.prototype.slice.call(pool, used, used + count);
      pool.fill(0, used, used + count);
      used += count;
      return drawn;
    },
  };
};

/** The machine's source of unpredictable bytes. */
export const systemRandom: Random = createPool();
