import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../../src/adapters/memory/event-store.js';
import { MemorySnapshots } from '../../../src/adapters/memory/snapshots.js';
import { mindFold } from '../../../src/app/minds/mind.js';
import { Lanes } from '../../../src/app/streams/lanes.js';
import {
  createSnapshotting,
  SNAPSHOT_CHARS,
  SNAPSHOT_SAVES,
  SNAPSHOT_WAIT_MS,
} from '../../../src/app/streams/snapshotting.js';
import { npcStream } from '../../../src/domain/shared/stream-names.js';
import type { EventStore } from '../../../src/ports/event-store.js';
import type { Snapshot, Snapshots } from '../../../src/ports/snapshots.js';
import { appendToMind, personas, settled, snapshotsWith, watched } from '../../support/long-minds.js';
import { ManualClock } from '../../support/manual-clock.js';
import { heldStore, note, onBehalf, STREAM, texts } from '../../support/streams.js';

const mira = npcStream('studio', 'mira');
const END = { revision: Number.MAX_SAFE_INTEGER };

/** Servers over one event store and one place for snapshots; `warnings` is what they log. */
const setUp = ({
  store = new MemoryEventStore(),
  snapshots = new MemorySnapshots(),
  every,
}: { readonly store?: EventStore; readonly snapshots?: Snapshots; readonly every?: number } = {}) => {
  const clock = new ManualClock();
  const warnings: string[] = [];
  const log = { warn: (_: object, message: string) => void warnings.push(message) };
  const server = (over: Snapshots = snapshots, events = store): Lanes => {
    const options = every === undefined ? {} : { every };
    return new Lanes(events, clock, { snapshots: createSnapshotting({ snapshots: over, clock, log }, options) });
  };
  const saved = async (stream = mira): Promise<readonly number[]> => {
    const revisions: number[] = [];
    for (let last = Number.MAX_SAFE_INTEGER; ;) {
      const next = await snapshots.latest(stream, 1, { revision: last });
      if (next === null) return revisions.reverse();
      revisions.push(next.revision);
      last = next.revision - 1;
    }
  };
  return { store, snapshots, clock, warnings, server, saved };
};

/** A mind of 2,500 events with its snapshots. */
const longMind = async () => {
  const minds = setUp();
  await appendToMind(minds.server(), 'mira', personas(2_500));
  await settled();
  return minds;
};

const load = async (lanes: Lanes, npcId = 'mira') => (await lanes.open(npcStream('studio', npcId), mindFold)).state;

describe('a long stream', () => {
  it('is loaded from its latest snapshot, and nothing before is read', async () => {
    const { store, server, snapshots } = await longMind();
    const { revisions, store: counted } = watched(store);
    const lanes = server(snapshots, counted);
    expect(await load(lanes)).toEqual(await load(new Lanes(store, new ManualClock())));
    expect([revisions[0], revisions.length]).toEqual([2_000, 500]);
    await appendToMind(lanes, 'mira', personas(1, 2_500));
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
    ['of an event with another hash', (snapshot) => ({ ...snapshot, hash: 'f'.repeat(64) })],
    ['of another version of the fold', (snapshot) => ({ ...snapshot, version: 2 })],
    ['ahead of the stream', (snapshot) => ({ ...snapshot, revision: 3_000 })],
    ['one event off', (snapshot) => ({ ...snapshot, revision: snapshot.revision - 1 })],
    ['that is no state', (snapshot) => ({ ...snapshot, state: '{"persona":7}' })],
    [
      'with the state of another revision',
      (snapshot) => ({ ...snapshot, state: snapshot.state.replace('2000,', '1000,') }),
    ],
    ['that is no JSON', (snapshot) => ({ ...snapshot, state: snapshot.state.slice(0, -1) })],
    ['that is missing', () => null],
  ])('is folded from its beginning where there is but a snapshot %s', async (_, spoil) => {
    const { store, snapshots, server } = await longMind();
    const latest = await snapshots.latest(mira, 1, END);
    const other = new MemorySnapshots();
    const spoilt = latest === null ? null : spoil(latest);
    if (spoilt !== null) await other.save(spoilt);
    const { revisions, store: counted } = watched(store);
    const lanes = server(other, counted);
    expect(await load(lanes)).toMatchObject({ persona: 'p2499', revision: 2_499 });
    expect(revisions).toContain(0);
    expect((await lanes.asOf(mira, mindFold, { revision: 2_100 })).state).toMatchObject({ persona: 'p2100' });
  });

  it('that was restored from an older backup is loaded from the latest snapshot that it reaches', async () => {
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
      await settled();
    }
  });

  it('is folded from its beginning where snapshots cannot be had, which is logged once', async () => {
    const { snapshots, server, warnings } = await longMind();
    const fail = () => Promise.reject(new Error('the database is away'));
    const lanes = server(snapshotsWith(snapshots, { latest: fail, save: fail }));
    expect(await load(lanes)).toMatchObject({ persona: 'p2499', revision: 2_499 });
    expect((await lanes.asOf(mira, mindFold, { revision: 7 })).state).toMatchObject({ persona: 'p7' });
    expect(warnings).toHaveLength(1);
  });

  it('is folded from its beginning where the answer is late, however it ends then', async () => {
    const { snapshots, server, clock, warnings } = await longMind();
    for (const end of ['answer', 'fail', 'nothing']) {
      let settle: () => void = () => undefined;
      const late = snapshotsWith(snapshots, {
        latest: (...asked) =>
          new Promise((resolve, reject) => {
            settle = () => {
              if (end === 'answer') resolve(snapshots.latest(...asked));
              if (end === 'fail') reject(new Error('no answer'));
            };
          }),
      });
      const loading = load(server(late));
      await settled();
      await clock.advance(SNAPSHOT_WAIT_MS);
      settle();
      expect(await loading).toMatchObject({ persona: 'p2499', revision: 2_499 });
    }
    expect(warnings).toHaveLength(3);
  });

  it('is loaded from a snapshot that is there when the time runs out, but not read yet', async () => {
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
    await settled();
    const advancing = clock.advance(SNAPSHOT_WAIT_MS);
    answer();
    await advancing;
    expect(await loading).toMatchObject({ persona: 'p2499', revision: 2_499 });
    expect([revisions[0], warnings]).toEqual([2_000, []]);
  });

  it('is asked for a snapshot only while nothing is known of it', async () => {
    const { snapshots, store, clock } = setUp();
    let asked = 0;
    const latest: Snapshots['latest'] = (...question) => {
      asked += 1;
      return snapshots.latest(...question);
    };
    const counted = snapshotsWith(snapshots, { latest });
    const snapshotting = createSnapshotting({ snapshots: counted, clock, log: { warn: () => undefined } });
    const lanes = new Lanes(store, clock, { shared: true, snapshots: snapshotting });
    await lanes.current(mira, mindFold);
    await lanes.current(mira, mindFold);
    await appendToMind(lanes, 'mira', personas(1));
    await appendToMind(new Lanes(store, clock), 'mira', personas(1));
    expect((await lanes.current(mira, mindFold)).revision).toBe(1);
    expect(asked).toBe(1);
    await lanes.current(STREAM, texts);
    expect(asked).toBe(1);
  });
});

describe('snapshots', () => {
  it('are saved every 1,000 revisions, of the state at that very revision', async () => {
    const { snapshots, saved } = await longMind();
    expect(await saved()).toEqual([1_000, 2_000]);
    const { state, hash, atMs } = (await snapshots.latest(mira, 1, { revision: 1_999 })) ?? {};
    expect(JSON.parse(state ?? '')).toMatchObject({ persona: 'p1000', revision: 1_000 });
    expect([hash?.length, atMs]).toEqual([64, Date.parse('2026-01-01T00:00:00.000Z')]);
  });

  it('are all made while a stream that has none is read through', async () => {
    const { store } = await longMind();
    for (const read of [load, (lanes: Lanes) => lanes.asOf(mira, mindFold, { revision: 2_100 })]) {
      const { server, saved } = setUp({ store });
      await read(server());
      await settled();
      expect(await saved()).toEqual([1_000, 2_000]);
    }
  });

  it('that are wrong are replaced on the way', async () => {
    const { store, snapshots, server } = await longMind();
    const wrong = (await snapshots.latest(mira, 1, END)) as Snapshot;
    await snapshots.save({ ...wrong, hash: 'f'.repeat(64) });
    await load(server());
    await settled();
    const { revisions, store: counted } = watched(store);
    await load(server(snapshots, counted));
    expect(revisions[0]).toBe(2_000);
  });

  it('are saved of what is durable alone', async () => {
    const memory = new MemoryEventStore();
    const { store, release } = heldStore(memory);
    const { server, saved } = setUp({ store, every: 2 });
    const lane = await server().open(mira, mindFold);
    const put = (...drafts: ReturnType<typeof personas>) => lane.append(lane.place(drafts, onBehalf('x'), 0));
    const failing = put(...personas(3));
    await settled();
    expect(await saved()).toEqual([]);
    release(false);
    await expect(failing).rejects.toThrow('the disk is full');
    await settled();
    expect(await saved()).toEqual([]);
    await lane.load();
    const refused = put(...personas(3));
    await appendToMind(new Lanes(memory, new ManualClock()), 'mira', personas(1));
    release();
    expect((await refused).ok).toBe(false);
    await settled();
    expect(await saved()).toEqual([]);
    await lane.load();
    const written = put(...personas(3));
    release();
    expect((await written).ok).toBe(true);
    await settled();
    expect(await saved()).toEqual([2]);
  });

  it('are waited for by nobody, and of more than a few at once one is left out', async () => {
    const held: (() => void)[] = [];
    const revisions: number[] = [];
    const snapshots = snapshotsWith(new MemorySnapshots(), {
      save: ({ revision }) => {
        revisions.push(revision);
        return new Promise((resolve) => held.push(resolve));
      },
    });
    const { server } = setUp({ snapshots, every: 2 });
    const lanes = server();
    await appendToMind(lanes, 'mira', personas(20));
    await settled();
    expect(revisions).toEqual([2, 4]);
    expect(SNAPSHOT_SAVES).toBe(revisions.length);
    for (const done of held.splice(0)) done();
    await settled();
    await appendToMind(lanes, 'mira', personas(1));
    await settled();
    expect(revisions).toEqual([2, 4, 20]);
  });

  it('that cannot be saved hold up nothing, and are logged once until one is saved again', async () => {
    const memory = new MemorySnapshots();
    let full = true;
    const snapshots = snapshotsWith(memory, {
      save: (snapshot) => (full ? Promise.reject(new Error('the disk is full')) : memory.save(snapshot)),
    });
    const { server, warnings, saved } = setUp({ snapshots, every: 10 });
    const lanes = server();
    const grow = async (count: number) => {
      await appendToMind(lanes, 'mira', personas(count));
      await settled();
    };
    await grow(11);
    await grow(10);
    expect([warnings.length, await saved()]).toEqual([1, []]);
    full = false;
    await grow(10);
    full = true;
    await grow(10);
    expect([warnings.length, await saved()]).toEqual([2, [30]]);
    expect((await load(lanes)).revision).toBe(40);
  });

  it('are not even made into text of states that are much too large', async () => {
    const { server, saved } = setUp({ every: 2 });
    let made = 0;
    const toJSON = (): string => {
      made += 1;
      return 'short';
    };
    const lane = await server().open(STREAM, {
      initial: { text: '', toJSON },
      evolve: ({ text }: { text: string; toJSON: () => string }, { revision }) => ({
        text: revision === 2 ? 'x'.repeat(SNAPSHOT_CHARS) : text.slice(0, 1),
        toJSON,
      }),
      snapshots: { version: 1, restore: () => null },
    });
    await lane.append(
      lane.place(
        [1, 2, 3, 4, 5].map((n) => note(String(n))),
        onBehalf('x'),
        0,
      ),
    );
    await settled();
    expect([made, await saved(STREAM)]).toEqual([1, [4]]);
  });

  it('are not saved of states that are too large', async () => {
    const { server, saved } = setUp({ every: 2 });
    const open = {
      initial: '',
      evolve: () => 'x'.repeat(SNAPSHOT_CHARS),
      snapshots: { version: 1, restore: () => '' },
    };
    const lane = await server().open(STREAM, open);
    await lane.append(
      lane.place(
        [1, 2, 3].map((n) => note(String(n))),
        onBehalf('x'),
        0,
      ),
    );
    await settled();
    expect(await saved(STREAM)).toEqual([]);
  });

  it('are kept of minds alone', async () => {
    const { server, saved } = setUp({ every: 2 });
    const lane = await server().open(STREAM, texts);
    await lane.append(
      lane.place(
        [1, 2, 3].map((n) => note(String(n))),
        onBehalf('x'),
        0,
      ),
    );
    await settled();
    expect(await saved(STREAM)).toEqual([]);
  });
});
