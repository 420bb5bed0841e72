import { expect, vi } from 'vitest';

import type { Api } from '../support/api.js';

/**
 * Waits until the read model of memories follows what is stored: a projector that has just started joins its group first, which takes longer than a
 * list waits for it (contract 1.8).
 */
export const untilProjecting = async (api: Api): Promise<void> => {
  const stored = await api.post('/npcs/first-one/memory', { text: 'It has begun.' });
  expect(stored.status, stored.text).toBe(200);
  await vi.waitFor(async () => expect((await api.get('/npcs/first-one/memory')).body).toHaveLength(1), {
    timeout: 60_000,
    interval: 200,
  });
};
