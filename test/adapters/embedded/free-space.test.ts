import { describe, expect, it } from 'vitest';

import { LEAST_FREE_BYTES, requireFreeSpace } from '../../../src/adapters/embedded/free-space.js';

const disk = (freeBytes: number) => () => Promise.resolve({ bavail: freeBytes / 512, bsize: 512 });

describe('The free space of a directory', () => {
  it('suffices if the largest commit fits [10.6c]', async () => {
    expect(LEAST_FREE_BYTES).toBe(32 * 1024 * 1024);
    await requireFreeSpace('/data', disk(LEAST_FREE_BYTES));
    await requireFreeSpace('.');
  });

  it('is refused as a full disk if it does not [10.6c, 11.3g]', async () => {
    const full = { code: 'STORE_FULL', retryAfter: 5 };
    await expect(requireFreeSpace('/data', disk(LEAST_FREE_BYTES - 512))).rejects.toMatchObject(full);
  });
});
