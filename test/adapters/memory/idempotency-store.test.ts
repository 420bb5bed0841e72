import { MemoryIdempotencyStore } from '../../../src/adapters/memory/idempotency-store.js';
import type { KeptReservation } from '../../../src/adapters/shared/reservations.js';
import { idempotencyStoreContract } from '../../contracts/idempotency-store.js';
import { ManualClock } from '../../support/manual-clock.js';

idempotencyStoreContract('The memory adapter', async () => {
  const clock = new ManualClock();
  const left = new Map<string, KeptReservation>();
  return {
    store: new MemoryIdempotencyStore(clock, left),
    afterDeath: async () => new MemoryIdempotencyStore(clock, left),
    later: (ms) => clock.advance(ms),
    dispose: async () => undefined,
  };
});
