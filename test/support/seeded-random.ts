import { createHash } from 'node:crypto';

import type { Random } from '../../src/ports/random.js';

/** Pseudo-random bytes that are the same for the same seed. */
export const seededRandom = (seed: string): Random => {
  let drawn = 0;
  return {
    bytes(count) {
      const blocks: Buffer[] = [];
      for (let have = 0; have < count; have += 32) {
        drawn += 1;
        blocks.push(
          createHash('sha256')
            .update(`${seed}\n${String(drawn)}`)
            .digest(),
        );
      }
      return new Uint8Array(Buffer.concat(blocks).subarray(0, count));
    },
  };
};
