import { MemoryEventStore } from '../../../src/adapters/memory/event-store.js';
import { eventStoreContract } from '../../contracts/event-store.js';

eventStoreContract('The memory adapter', async () => {
  const store = new MemoryEventStore();
  return { store, dispose: () => store[Symbol.asyncDispose]() };
});
