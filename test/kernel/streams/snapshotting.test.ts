import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { EmbeddedSnapshots } from '../../../src/adapters/embedded/snapshots.js';
import { mindFold } from '../../../src/features/npcs/mind-fold.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import { SNAPSHOT_CHARS, SNAPSHOT_SAVES } from '../../../src/kernel/streams/snapshotting.js';
import { npcStream } from '../../../src/kernel/base/stream-names.js';
import { fitsItsHash } from '../../../src/kernel/streams/event-checks.js';
import type { JsonObject } from '../../../src/kernel/base/json.js';
import type { RecordedEvent } from '../../../src/ports/event-store.js';
import type { Snapshot } from '../../../src/ports/snapshots.js';
import {
  appendToMind,
  personas,
  load,
  longMind,
  MIND_VERSION,
  snapshotServers,
  snapshotsWith,
  watched,
} from '../../support/long-minds.js';
import { settle } from '../../support/settle.js';
import { ManualClock } from '../../support/manual-clock.js';
import { heldStore, note, onBehalf, storeWith, STREAM, texts } from '../../support/streams.js';

const mira = npcStream('studio', 'mira');
const END = { revision: Number.MAX_SAFE_INTEGER };

describe('snapshots', () => {
  it('are saved every 1,000 revisions, of the state at exactly that revision', async () => {
    const { snapshots, saved } = await longMind();
    expect(await saved()).toEqual([1_000, 2_000]);
    const { state, hash, atMs } = (await snapshots.latest(mira, MIND_VERSION, { revision: 1_999 })) ?? {};
    expect(JSON.parse(state ?? '')).toMatchObject([expect.any(String), { persona: 'p1000', revision: 1_000 }]);
    expect([hash?.length, atMs]).toEqual([64, Date.parse('2026-01-01T00:00:00.000Z')]);
  });

  it('are all made when a stream without any is read through', async () => {
    const { store } = await longMind();
    for (const read of [load, (writers: StreamWriters) => writers.asOf(mira, mindFold, { revision: 2_100 })]) {
      const { server, saved } = snapshotServers({ store });
      await read(server());
      await settle();
      expect(await saved()).toEqual([1_000, 2_000]);
    }
  });

  it('keep nothing that somebody wrote into the stream for a while [10.13e]', async () => {
    const { store } = await longMind();
    const changed = storeWith(store, {
      read: async (...range) => {
        const page = await store.read(...range);
        const other = (data: JsonObject) => ({ ...data, persona: 'a thief' });
        return {
          ...page,
          events: page.events.map((event) => (event.revision === 500 ? { ...event, data: other(event.data) } : event)),
        };
      },
    });
    const isBroken = async (event: RecordedEvent) => !(await fitsItsHash(event));
    const { snapshots, server, saved } = snapshotServers({ store: changed, isBroken });
    await load(server());
    await settle();
    expect(await saved()).toEqual([]);
    await load(server(snapshots, store));
    await settle();
    expect(await saved()).toEqual([1_000, 2_000]);
  });

  it('are replaced when they prove wrong', async () => {
    const { store, snapshots, server } = await longMind();
    const wrong = (await snapshots.latest(mira, MIND_VERSION, END)) as Snapshot;
    await snapshots.save({ ...wrong, hash: 'f'.repeat(64) });
    await load(server());
    await settle();
    const { revisions, store: counted } = watched(store);
    await load(server(snapshots, counted));
    expect(revisions[0]).toBe(2_000);
  });

  it('are saved only of durable state', async () => {
    const memory = new MemoryEventStore();
    const { store, release } = heldStore(memory);
    const { server, saved } = snapshotServers({ store, every: 2 });
    const writer = await server().open(mira, mindFold);
    const put = (...drafts: ReturnType<typeof personas>) => writer.append(drafts, onBehalf('x'), 0);
    const failing = put(...personas(3));
    await settle();
    expect(await saved()).toEqual([]);
    release(false);
    await expect(failing).rejects.toThrow('the disk is full');
    await settle();
    expect(await saved()).toEqual([]);
    await writer.load();
    const refused = put(...personas(3));
    await appendToMind(new StreamWriters(memory, new ManualClock()), 'mira', personas(1));
    release();
    expect(await refused).toBeNull();
    await settle();
    expect(await saved()).toEqual([]);
    await writer.load();
    const written = put(...personas(3));
    release();
    expect(await written).not.toBeNull();
    await settle();
    expect(await saved()).toEqual([2]);
  });

  it('never delay a write, and one is skipped when several are already being saved', async () => {
    const held: (() => void)[] = [];
    const revisions: number[] = [];
    const snapshots = snapshotsWith(EmbeddedSnapshots.open(':memory:'), {
      save: ({ revision }) => {
        revisions.push(revision);
        return new Promise((resolve) => held.push(resolve));
      },
    });
    const { server } = snapshotServers({ snapshots, every: 2 });
    const writers = server();
    await appendToMind(writers, 'mira', personas(20));
    await settle();
    expect(revisions).toEqual([2, 4]);
    expect(SNAPSHOT_SAVES).toBe(revisions.length);
    for (const done of held.splice(0)) done();
    await settle();
    await appendToMind(writers, 'mira', personas(1));
    await settle();
    expect(revisions).toEqual([2, 4, 20]);
  });

  it('delay nothing when they cannot be saved, and are logged once until one is saved again', async () => {
    const memory = EmbeddedSnapshots.open(':memory:');
    let full = true;
    const snapshots = snapshotsWith(memory, {
      save: (snapshot) => (full ? Promise.reject(new Error('the disk is full')) : memory.save(snapshot)),
    });
    const { server, warnings, saved } = snapshotServers({ snapshots, every: 10 });
    const writers = server();
    const grow = async (count: number) => {
      await appendToMind(writers, 'mira', personas(count));
      await settle();
    };
    await grow(11);
    await grow(10);
    expect([warnings.length, await saved()]).toEqual([1, []]);
    full = false;
    await grow(10);
    full = true;
    await grow(10);
    expect([warnings.length, await saved()]).toEqual([2, [30]]);
    expect((await load(writers)).revision).toBe(40);
  });

  it('are not even serialised if the state is much too large', async () => {
    const { server, saved } = snapshotServers({ every: 2 });
    let made = 0;
    const toJSON = (): string => {
      made += 1;
      return 'short';
    };
    const writer = await server().open(STREAM, {
      initial: { text: '', toJSON },
      evolve: ({ text }: { text: string; toJSON: () => string }, { revision }) => ({
        text: revision === 2 ? 'x'.repeat(SNAPSHOT_CHARS) : text.slice(0, 1),
        toJSON,
      }),
      versionOf: texts.versionOf,
      snapshots: { version: MIND_VERSION, restore: () => null },
    });
    await writer.append(
      [1, 2, 3, 4, 5].map((n) => note(String(n))),
      onBehalf('x'),
      0,
    );
    await settle();
    expect([made, await saved(STREAM)]).toEqual([1, [4]]);
  });

  it('are not saved of states that are too large', async () => {
    const { server, saved } = snapshotServers({ every: 2 });
    const open = {
      initial: '',
      evolve: () => 'x'.repeat(SNAPSHOT_CHARS),
      versionOf: texts.versionOf,
      snapshots: { version: MIND_VERSION, restore: () => '' },
    };
    const writer = await server().open(STREAM, open);
    await writer.append(
      [1, 2, 3].map((n) => note(String(n))),
      onBehalf('x'),
      0,
    );
    await settle();
    expect(await saved(STREAM)).toEqual([]);
  });

  it('are kept only of minds', async () => {
    const { server, saved } = snapshotServers({ every: 2 });
    const writer = await server().open(STREAM, texts);
    await writer.append(
      [1, 2, 3].map((n) => note(String(n))),
      onBehalf('x'),
      0,
    );
    await settle();
    expect(await saved(STREAM)).toEqual([]);
  });
});
