import { randomNamespace } from './dist-env.js';
import { openEventStore } from './eventstore-server.js';
import { event } from './events.js';

/** Does once each thing that holds a connection open, closes the store and prints a line. The process must then exit on its own. */
const store = openEventStore({ url: process.argv[2] ?? '', namespace: randomNamespace() });
const { signal } = new AbortController();
await store.append('s', 'no_stream', [event('a')]);
await store.read('s', { direction: 'backwards', limit: 1 });
await store.readAll(0, 1);
for await (const _ of store.subscribe({ after: 0, signal })) break;
const waiting = store.subscribe({ after: await store.lastPosition(), signal })[Symbol.asyncIterator]();
const ended = waiting.next().then(
  () => 'an event',
  (error: unknown) => (error as { code?: string }).code,
);
await store[Symbol.asyncDispose]();
process.stdout.write(`closed, subscription: ${String(await ended)}\n`);
