import { join } from 'node:path';

import { EmbeddedEventStore } from '../../../src/adapters/embedded/event-store.js';
import { eventStoreContract } from '../../contracts/event-store.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

eventStoreContract('The embedded adapter', async () => {
  const directory = await temporaryDirectory();
  const file = join(directory.path, 'events.db');
  let store = EmbeddedEventStore.open(file);
  return {
    store,
    reopen: async () => {
      await store[Symbol.asyncDispose]();
      return (store = EmbeddedEventStore.open(file));
    },
    dispose: async () => {
      await store[Symbol.asyncDispose]();
      await directory[Symbol.asyncDispose]();
    },
  };
});
