import { cp } from 'node:fs/promises';

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import type { EventStoreDb } from '../../../src/adapters/eventstore/event-store.js';
import type { StoredLogPlaces } from '../../../src/ports/log-places.js';
import { startStandIn, type StandIn, urlOf } from '../../stand-in/start.js';
import { randomNamespace } from '../../support/dist-env.js';
import { event, events, namesOf } from '../../support/events.js';
import { openEventStore } from '../../support/eventstore-server.js';
import { TcpRelay } from '../../support/tcp-relay.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

/** Foreign events, written before and during the test. */
const FOREIGN = 300_000;
const MORE = 5_000;
const AT_ONCE = 500;
/** In total this is several megabytes on the wire. */
const [NOTHING, LITTLE, FIRST] = [60_000, 150_000, 500_000];

describe('An event store that others write to as well', () => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let node: StandIn;
  let others: EventStoreDb;
  let relay: TcpRelay;
  let written = 0;
  beforeAll(async () => {
    directory = await temporaryDirectory();
    node = await startStandIn(directory.path, { foreign: FOREIGN });
    others = openEventStore({ url: node.url, namespace: randomNamespace() });
    relay = new TcpRelay({ host: '127.0.0.1', port: node.port });
    await relay.open();
  }, 120_000);
  afterAll(async () => {
    await others[Symbol.asyncDispose]();
    await relay[Symbol.asyncDispose]();
    await node.child[Symbol.asyncDispose]();
    await directory[Symbol.asyncDispose]();
  });

  const writeForeign = async (count: number): Promise<void> => {
    for (let left = count; left > 0; left -= AT_ONCE) {
      written += 1;
      const wrote = await others.append(`s${String(written)}`, 'no_stream', events(`e${String(written)}`, AT_ONCE));
      expect(wrote.ok).toBe(true);
    }
  };
  /** Our store behind the relay, and what it stores for the next start. */
  const ours = (namespace: string, kept: StoredLogPlaces | null = null) => {
    const places = { kept };
    const store = openEventStore({
      ...{ url: urlOf(relay.port), namespace },
      places: {
        load: () => Promise.resolve(places.kept),
        keep: (now) => Promise.resolve(void (places.kept = now)),
      },
    });
    return { store, places };
  };
  const bytesOf = async <T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly bytes: number }> => {
    const before = relay.received;
    const result = await work();
    return { result, bytes: relay.received - before };
  };

  it('finds its end, and new events, without reading foreign ones', async () => {
    const namespace = randomNamespace();
    const { store, places } = ours(namespace);
    await store.probe();
    const first = await bytesOf(() => store.lastPosition());
    expect(first.result).toBe(0);
    expect(first.bytes).toBeLessThan(FIRST);
    await store.append('s', 'no_stream', [event('a'), event('b')]);
    const end = await store.lastPosition();
    await writeForeign(MORE);
    const again = await bytesOf(() => store.lastPosition());
    expect(again.result).toBe(end);
    expect(again.bytes).toBeLessThan(LITTLE);
    for (const look of [(): Promise<unknown> => store.lastPosition(), () => store.probe()])
      expect((await bytesOf(look)).bytes).toBeLessThan(NOTHING);
    await store[Symbol.asyncDispose]();
    expect(places.kept).toMatchObject({ own: 0 });
  });

  it('resumes where it was before a restart, for its end and for reading', async () => {
    const namespace = randomNamespace();
    const before = ours(namespace);
    await before.store.append('s', 'no_stream', [event('a'), event('b')]);
    await writeForeign(MORE);
    const end = await before.store.lastPosition();
    await before.store[Symbol.asyncDispose]();
    expect(before.places.kept).toMatchObject({ own: end });
    await writeForeign(AT_ONCE);
    const { store } = ours(namespace, before.places.kept);
    await store.probe();
    const found = await bytesOf(() => store.lastPosition());
    expect(found).toMatchObject({ result: end });
    expect(found.bytes).toBeLessThan(NOTHING);
    const read = await bytesOf(() => store.readAll(end, 10));
    expect(read.result).toEqual([]);
    expect(read.bytes).toBeLessThan(NOTHING);
    const all = await bytesOf(() => store.readAll(0, 10));
    expect(namesOf(all.result)).toEqual(['a', 'b']);
    expect(all.bytes).toBeLessThan(NOTHING);
    await store.append('s', 1, [event('c')]);
    expect(namesOf(await store.readAll(end, 10))).toEqual(['c']);
    await store[Symbol.asyncDispose]();
  });
});

it('is searched again when a backup is restored under a running process and has grown past what that process saw', async () => {
  await using directory = await temporaryDirectory();
  await using backup = await temporaryDirectory();
  const namespace = randomNamespace();
  const warned: string[] = [];
  const log = { error: () => undefined, warn: (_: object, message: string) => void warned.push(message) };
  const before = await startStandIn(directory.path);
  await using store = openEventStore({ url: before.url, namespace, log });
  await using others = openEventStore({ url: before.url, namespace: randomNamespace() });
  await store.append('s', 'no_stream', [event('a')]);
  await others.append('t', 'no_stream', events('f', 100));
  await cp(directory.path, backup.path, { recursive: true });
  await others.append('u', 'no_stream', events('g', 100));
  await store.lastPosition();
  await before.child.kill();
  const after = await startStandIn(backup.path, { port: before.port });
  await using _ = after.child;
  await using late = openEventStore({ url: after.url, namespace });
  await using foreign = openEventStore({ url: after.url, namespace: randomNamespace() });
  await vi.waitFor(() => late.append('new', 'no_stream', [event('x')]), { timeout: 20_000 });
  // Longer names, so that no event begins where a lost one did.
  for (let n = 0; n < 10; n += 1)
    await foreign.append(`a-longer-name-${String(n)}`, 'no_stream', events(`other-${String(n)}`, 100));
  await vi.waitFor(() => store.probe(), { timeout: 20_000 });
  const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 3_600_000);
  const found = await store.lastPosition().finally(() => clock.mockRestore());
  expect(found).toBe(await late.lastPosition());
  expect(warned).toEqual(['The event store is not the one seen before; reading it from the start']);
  expect(namesOf(await store.readAll(0, 10))).toEqual(['a', 'x']);
}, 120_000);
