import { afterAll, beforeAll, describe } from 'vitest';

import { eventStoreContract } from '../../contracts/event-store.js';
import { randomNamespace } from '../../support/dist-env.js';
import { eventStoreServer, KillableEventStore, openEventStore } from '../../support/eventstore-server.js';

describe.each([
  ['the server of this run', eventStoreServer],
  ['a stand-in for KurrentDB', () => KillableEventStore.start({ like: 'kurrentdb-25' })],
] as const)('on %s', (name, start) => {
  let server: Awaited<ReturnType<typeof eventStoreServer>>;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  eventStoreContract(`The EventStoreDB adapter on ${name}`, async () => {
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
});
