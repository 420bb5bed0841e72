import { type KeptReservation, MemoryIdempotencyStore } from '../../../src/adapters/memory/idempotency-store.js';
import { idempotencyStoreContract } from '../../contracts/idempotency-store.js';

idempotencyStoreContract('The memory adapter', async (clock) => {
  const left = new Map<string, KeptReservation>();
  return {
    store: new MemoryIdempotencyStore(clock, left),
    afterDeath: async () => new MemoryIdempotencyStore(clock, left),
    dispose: async () => undefined,
  };
});
