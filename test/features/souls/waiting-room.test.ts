import { expect, it } from 'vitest';

import { MAX_WAITING_BYTES, requireWaitingRoom } from '../../../src/features/souls/waiting-room.js';

it('another soul of a tenant is accepted while few enough wait for their upload [8.1j]', async () => {
  const holding = (staged: number) => ({
    stagedBytes: async (tenant: string) => (tenant === 'studio' ? staged : MAX_WAITING_BYTES),
  });
  await requireWaitingRoom(holding(MAX_WAITING_BYTES - 1), 'studio');
  await expect(requireWaitingRoom(holding(MAX_WAITING_BYTES), 'studio')).rejects.toMatchObject({
    code: 'SOULS_WAITING',
    retryAfter: 60,
    details: { limitBytes: 256 * 1024 * 1024 },
  });
});
