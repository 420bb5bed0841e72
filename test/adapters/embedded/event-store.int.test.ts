import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { EmbeddedEventStore } from '../../../src/adapters/embedded/event-store.js';
import { PAUSE_BYTES } from '../../../src/kernel/base/page-size.js';
import { eventStoreContract } from '../../contracts/event-store.js';
import { event } from '../../support/events.js';
import { countTurns } from '../../support/loop-turns.js';
import { STREAM } from '../../support/streams.js';
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

describe('a long page of the embedded event store', () => {
  const [count, size] = [400, 2_000];
  const filled = async () => {
    const directory = await temporaryDirectory();
    const store = EmbeddedEventStore.open(join(directory.path, 'events.db'));
    const large = Array.from({ length: count }, (_, n) => event(`e${n}`, { data: { text: 'x'.repeat(size) } }));
    await store.append(STREAM, 'no_stream', large);
    return {
      store,
      [Symbol.asyncDispose]: async () => {
        await store[Symbol.asyncDispose]();
        await directory[Symbol.asyncDispose]();
      },
    };
  };
  const whole = { direction: 'forwards', limit: 2 * count } as const;

  it.each([
    ['a stream', async (store: EmbeddedEventStore) => (await store.read(STREAM, whole)).events],
    [
      'a stream backwards',
      async (store: EmbeddedEventStore) =>
        (await store.read(STREAM, { ...whole, direction: 'backwards' })).events.toReversed(),
    ],
    ['all streams', (store: EmbeddedEventStore) => store.readAll(0, 2 * count)],
  ])('of %s is read in portions, between which other work runs', async (_, read) => {
    await using scene = await filled();
    using turns = countTurns();
    const events = await read(scene.store);
    expect(events.map(({ revision }) => revision)).toEqual(Array.from({ length: count }, (__, n) => n));
    expect(turns.count).toBeGreaterThanOrEqual(Math.floor((count * size) / PAUSE_BYTES) - 1);
  });

  it('ends where its stream ended when the read began', async () => {
    await using scene = await filled();
    const reading = scene.store.read(STREAM, whole);
    await scene.store.append(STREAM, count - 1, [event('later')]);
    const { events, lastRevision } = await reading;
    expect([events.length, lastRevision]).toEqual([count, count - 1]);
  });

  it('ends a subscription normally when the subscriber leaves and the store is closed', async () => {
    await using scene = await filled();
    const left = new AbortController();
    const following = scene.store.subscribe({ after: 0, signal: left.signal })[Symbol.asyncIterator]();
    const next = following.next();
    left.abort();
    await scene.store[Symbol.asyncDispose]();
    expect(await next).toEqual({ done: true, value: undefined });
  });

  it('is refused when the store is closed during the read', async () => {
    await using scene = await filled();
    const reading = scene.store.read(STREAM, whole);
    await Promise.all([
      scene.store[Symbol.asyncDispose](),
      expect(reading).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' }),
    ]);
  });
});
