import { afterAll, beforeAll } from 'vitest';

import { eventStoreContract } from '../../contracts/event-store.js';
import { randomNamespace } from '../../support/dist-env.js';
import { eventStoreServer, openEventStore } from '../../support/eventstore-server.js';

let server: Awaited<ReturnType<typeof eventStoreServer>>;
beforeAll(async () => {
  server = await eventStoreServer();
});
afterAll(() => server[Symbol.asyncDispose]());

eventStoreContract('The EventStoreDB adapter', async () => {
  const options = { url: server.url, namespace: randomNamespace() };
  let store = openEventStore(options);
  return {
    store,
    reopen: async () => {
      await store[Symbol.asyncDispose]();
      return (store = openEventStore(options));
    },
    dispose: () => store[Symbol.asyncDispose](),
  };
});
