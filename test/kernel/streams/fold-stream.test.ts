import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { EmbeddedSnapshots } from '../../../src/adapters/embedded/snapshots.js';
import { mindFold } from '../../../src/features/npcs/mind-fold.js';
import { openState, sealState } from '../../../src/kernel/streams/sealed-snapshot.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import { createSnapshotting, SNAPSHOT_WAIT_MS } from '../../../src/kernel/streams/snapshotting.js';
import { npcStream } from '../../../src/kernel/base/stream-names.js';
import type { Snapshot, Snapshots } from '../../../src/ports/snapshots.js';
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
import { countTurns } from '../../support/loop-turns.js';
import { snapshotSeals } from '../../support/seals.js';
import { settle } from '../../support/settle.js';
import { ManualClock } from '../../support/manual-clock.js';
import { STREAM, texts } from '../../support/streams.js';

const mira = npcStream('studio', 'mira');
const END = { revision: Number.MAX_SAFE_INTEGER };

/** A snapshot as its server made it, before it was sealed. */
const plain = (snapshot: Snapshot): Snapshot => {
  const opened = openState(snapshotSeals, snapshot);
  if (opened === null || opened === 'changed') throw new Error('the snapshot has no seal that fits');
  return { ...snapshot, state: opened.state };
};
/** A change of a snapshot by someone with the secret. @param stream where it is saved */
const resealed =
  (change: (snapshot: Snapshot) => Snapshot, stream?: string) =>
  (snapshot: Snapshot): Snapshot => {
    const changed = change(plain(snapshot));
    return { ...changed, state: sealState(snapshotSeals, changed, changed.state), stream: stream ?? changed.stream };
  };

describe('a long stream', () => {
  it('is loaded from its latest snapshot, without reading anything before it', async () => {
    const { store, server, snapshots } = await longMind();
    const { revisions, store: counted } = watched(store);
    const writers = server(snapshots, counted);
    expect(await load(writers)).toEqual(await load(new StreamWriters(store, new ManualClock())));
    expect([revisions[0], revisions.length]).toEqual([2_000, 500]);
    await appendToMind(writers, 'mira', personas(1, 2_500));
    expect(await load(server())).toMatchObject({ persona: 'p2500', revision: 2_500 });
  });

  it('is folded up to a moment from the latest snapshot before it', async () => {
    const { store, server, snapshots } = await longMind();
    const { revisions, store: counted } = watched(store);
    const { state } = await server(snapshots, counted).asOf(mira, mindFold, { revision: 1_700 });
    expect(state).toMatchObject({ persona: 'p1700', revision: 1_700 });
    expect([revisions[0], revisions.length]).toEqual([1_000, 701]);
  });

  it.each<[what: string, spoil: (snapshot: Snapshot) => Snapshot | null]>([
    ['of an event with another hash', resealed((snapshot) => ({ ...snapshot, hash: 'f'.repeat(64) }))],
    ['of another version of the fold', resealed((snapshot) => ({ ...snapshot, version: MIND_VERSION + 1 }))],
    ['ahead of the stream', resealed((snapshot) => ({ ...snapshot, revision: 3_000 }))],
    ['one event off', resealed((snapshot) => ({ ...snapshot, revision: snapshot.revision - 1 }))],
    ['that is no state', resealed((snapshot) => ({ ...snapshot, state: '{"persona":7}' }))],
    [
      'with the state of another revision',
      resealed((snapshot) => ({ ...snapshot, state: snapshot.state.replace('"revision":2000,', '"revision":1000,') })),
    ],
    ['that is no JSON', resealed((snapshot) => ({ ...snapshot, state: snapshot.state.slice(0, -1) }))],
    ['changed', (snapshot) => ({ ...snapshot, state: snapshot.state.replace('"p2000"', '"forged"') })],
    ['without a seal', (snapshot) => ({ ...snapshot, state: plain(snapshot).state })],
    ['with a seal of another mind', resealed((snapshot) => ({ ...snapshot, stream: 'npc-studio.bran' }), mira)],
    ['that is missing', () => null],
  ])('is folded from its beginning if the only snapshot is %s', async (_, spoil) => {
    const { store, snapshots, server } = await longMind();
    const latest = await snapshots.latest(mira, MIND_VERSION, END);
    const other = EmbeddedSnapshots.open(':memory:');
    const spoilt = latest === null ? null : spoil(latest);
    if (spoilt !== null) await other.save(spoilt);
    const { revisions, store: counted } = watched(store);
    const writers = server(other, counted);
    expect(await load(writers)).toMatchObject({ persona: 'p2499', revision: 2_499 });
    expect(revisions).toContain(0);
    expect((await writers.asOf(mira, mindFold, { revision: 2_100 })).state).toMatchObject({ persona: 'p2100' });
  });

  it('yields while it is folded up to a moment, several times a page', async () => {
    const { server } = await longMind();
    using turns = countTurns();
    const { state } = await server().asOf(mira, mindFold, { revision: 1_700 });
    expect(state).toMatchObject({ persona: 'p1700', revision: 1_700 });
    // The 701 events after the snapshot arrive in two pages.
    expect(turns.count).toBeGreaterThanOrEqual(10);
  });

  it('that was restored from an older backup is loaded from the latest snapshot within it', async () => {
    const { store, server, snapshots } = await longMind();
    const restored = new MemoryEventStore();
    for (let from = 0; from < 1_900; from += 380) {
      const { events } = await store.read(mira, { direction: 'forwards', from, limit: 380 });
      await restored.append(mira, from === 0 ? 'no_stream' : from - 1, events);
    }
    for (const moment of [{ revision: 5_000 }, { timeMs: Date.parse('2026-01-01T00:00:00.000Z') }]) {
      const { revisions, store: counted } = watched(restored);
      const { state } = await server(snapshots, counted).asOf(mira, mindFold, moment);
      expect(state).toMatchObject({ persona: 'p1899', revision: 1_899 });
      expect([revisions[0], revisions.length]).toEqual([1_000, 900]);
      await settle();
    }
  });

  it('is folded from its beginning if snapshots are unavailable, which is logged once', async () => {
    const { snapshots, server, warnings } = await longMind();
    const fail = () => Promise.reject(new Error('the database is away'));
    const writers = server(snapshotsWith(snapshots, { latest: fail, save: fail }));
    expect(await load(writers)).toMatchObject({ persona: 'p2499', revision: 2_499 });
    expect((await writers.asOf(mira, mindFold, { revision: 7 })).state).toMatchObject({ persona: 'p7' });
    expect(warnings).toHaveLength(1);
  });

  it('is folded from its beginning if the snapshot is late, whatever its result', async () => {
    const { snapshots, server, clock, warnings } = await longMind();
    for (const end of ['answer', 'fail', 'nothing']) {
      let finish: () => void = () => undefined;
      const late = snapshotsWith(snapshots, {
        latest: (...asked) =>
          new Promise((resolve, reject) => {
            finish = () => {
              if (end === 'answer') resolve(snapshots.latest(...asked));
              if (end === 'fail') reject(new Error('no answer'));
            };
          }),
      });
      const loading = load(server(late));
      await settle();
      await clock.advance(SNAPSHOT_WAIT_MS);
      finish();
      expect(await loading).toMatchObject({ persona: 'p2499', revision: 2_499 });
    }
    expect(warnings).toHaveLength(3);
  });

  it('is loaded from a snapshot that has arrived when the time runs out, but was not read yet', async () => {
    const { snapshots, store, server, clock, warnings } = await longMind();
    const { revisions, store: counted } = watched(store);
    let answer: () => void = () => undefined;
    const busy = snapshotsWith(snapshots, {
      latest: async (...asked) => {
        await new Promise<void>((resolve) => (answer = resolve));
        return snapshots.latest(...asked);
      },
    });
    const loading = load(server(busy, counted));
    await settle();
    const advancing = clock.advance(SNAPSHOT_WAIT_MS);
    answer();
    await advancing;
    expect(await loading).toMatchObject({ persona: 'p2499', revision: 2_499 });
    expect([revisions[0], warnings]).toEqual([2_000, []]);
  });

  it('requests a snapshot only while nothing is cached of it', async () => {
    const { snapshots, store, clock } = snapshotServers();
    let asked = 0;
    const latest: Snapshots['latest'] = (...question) => {
      asked += 1;
      return snapshots.latest(...question);
    };
    const counted = snapshotsWith(snapshots, { latest });
    const snapshotting = createSnapshotting({
      snapshots: counted,
      clock,
      log: { warn: () => undefined },
      seals: snapshotSeals,
      isBroken: () => Promise.resolve(false),
    });
    const writers = new StreamWriters(store, clock, { shared: true, snapshots: snapshotting });
    await writers.current(mira, mindFold);
    await writers.current(mira, mindFold);
    await appendToMind(writers, 'mira', personas(1));
    await appendToMind(new StreamWriters(store, clock), 'mira', personas(1));
    expect((await writers.current(mira, mindFold)).revision).toBe(1);
    expect(asked).toBe(1);
    await writers.current(STREAM, texts);
    expect(asked).toBe(1);
  });
});
