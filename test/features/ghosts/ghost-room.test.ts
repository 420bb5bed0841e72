import { describe, expect, it } from 'vitest';

import { OPEN_GHOSTS, requireGhostRoom } from '../../../src/features/ghosts/ghost-room.js';
import type { ReadModels } from '../../../src/ports/read-models.js';

describe('the sessions of a tenant that are running or have no report', () => {
  it('are limited to 200 [9.8g]', async () => {
    const open = (count: number): ReadModels =>
      ({
        reachedPosition: () => Promise.resolve(true),
        list: (_: unknown, { limit }: { readonly limit: number }) => {
          const rows = Array.from({ length: Math.min(count, limit) }, () => ({ key: '', order: '', row: {} }));
          return Promise.resolve({ rows, more: count > limit });
        },
      }) as unknown as ReadModels;
    expect(OPEN_GHOSTS).toBe(200);
    await requireGhostRoom(open(OPEN_GHOSTS - 1), 'studio', 0);
    await expect(requireGhostRoom(open(OPEN_GHOSTS), 'studio', 0)).rejects.toMatchObject({
      ...{ code: 'GHOSTS_RUNNING', retryAfter: 10, details: { most: OPEN_GHOSTS } },
    });
  });
});
