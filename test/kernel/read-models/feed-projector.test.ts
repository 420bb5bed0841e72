import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { MemoryFeed } from '../../support/memory/event-feed.js';
import { createChain } from '../../../src/kernel/read-models/feed-chain.js';
import { FEED_GATHER_MS, FeedProjector } from '../../../src/kernel/read-models/feed-projector.js';
import { rebuild } from '../../../src/kernel/read-models/rebuild.js';
import { partitionOf } from '../../../src/kernel/base/partition.js';
import type { FeedEntry } from '../../../src/ports/event-feed.js';
import type { Projection } from '../../../src/ports/read-models.js';
import type { Build, Changes, ReadModelWriter } from '../../../src/ports/read-model-writer.js';
import { projections } from '../../../projections/registry.js';
import { event, events } from '../../support/events.js';
import { history, storeOf } from '../../support/histories.js';
import { ManualClock } from '../../support/manual-clock.js';
import { MemoryReadModels } from '../../support/memory/read-models.js';
import { everythingIn, writerWith } from '../../support/read-models.js';
import { appendNext } from '../../support/append-next.js';

const PARTITIONS = 3;
type Count = { readonly stream: string; readonly names: readonly string[] };

/** The names of a stream's events; one named `poison` cannot be applied. */
const names = (of: Partial<Projection<Count>> = {}): Projection<Count> => ({
  name: 'names',
  version: 1,
  handles: ['Happened'],
  idsOf: () => [''],
  evolve: (row, { stream, data }) => {
    const name = data['name'] as string;
    if (name.includes('poison')) throw new Error(`${name} does not fit`);
    return { stream, names: [...(row?.names ?? []), name] };
  },
  indexOf: ({ stream }) => ({ partition: 'all', order: stream, tag: '' }),
  ...of,
});

/** Streams in different partitions: one in each. */
const [s0, s1, s2] = Array.from({ length: PARTITIONS }, (_, partition) => {
  for (let n = 0; ; n += 1) if (partitionOf(`s${n}`, PARTITIONS) === partition) return `s${n}`;
}) as [string, string, string];

describe('The projector of a partitioned feed', () => {
  let store: MemoryEventStore;
  let clock: ManualClock;
  let models: MemoryReadModels;
  let feed: MemoryFeed;
  let problems: string[];
  let running: FeedProjector[];

  beforeEach(() => {
    store = new MemoryEventStore();
    clock = new ManualClock();
    models = new MemoryReadModels(clock);
    feed = new MemoryFeed(PARTITIONS);
    problems = [];
    running = [];
  });
  afterEach(async () => {
    for (const projector of running) await projector[Symbol.asyncDispose]();
  });

  const start = async (
    of: readonly Projection[] = [names()],
    writer: ReadModelWriter = models,
  ): Promise<FeedProjector> => {
    const log = { error: (_: object, message: string) => void problems.push(message) };
    const projector = new FeedProjector({ events: store, writer, clock, log, feed }, of);
    running.push(projector);
    projector.start();
    await clock.advance(0);
    return projector;
  };

  /** The output of a relay for the store behind `after`. */
  const links = async (after = 0): Promise<readonly FeedEntry[]> => {
    const chain = createChain(after, PARTITIONS);
    return [...chain.begin(), ...chain.next(await store.readAll(after, 10_000))];
  };
  const namesIn = async (stream: string, of: Projection = names()): Promise<readonly string[] | null> =>
    ((await models.get(of, stream)) as Count | null)?.names ?? null;
  const positionOf = async (of: Projection = names()): Promise<number> => (await models.open(of)).position;
  const settle = (): Promise<void> => clock.advance(FEED_GATHER_MS * 8);

  it('applies the events of its partitions, and reports each global position it reaches', async () => {
    const projector = await start();
    for (const stream of [s0, s1, s2]) await appendNext(store, stream, events(stream, 2));
    feed.append(await links());
    await settle();
    expect(await models.reachedPosition(names(), 6, 0)).toBe(true);
    expect(await namesIn(s1)).toEqual([`${s1}-0`, `${s1}-1`]);
    expect([await projector.lag(), await projector.parked()]).toEqual([0, 0]);
    expect(feed.committed).toEqual(feed.log.map((all) => all.length));
  });

  it('does not report a position as reached while a partition is behind it', async () => {
    await start();
    await appendNext(store, s0, events('a', 1));
    await appendNext(store, s1, events('b', 1));
    const all = await links();
    feed.append(all.filter(({ partition }) => partition !== 2));
    await settle();
    expect([await namesIn(s0), await namesIn(s1), await positionOf()]).toEqual([['a-0'], ['b-0'], 0]);
    feed.append(all.filter(({ partition }) => partition === 2));
    await settle();
    expect(await positionOf()).toBe(2);
  });

  it('changes nothing when messages are delivered again', async () => {
    await start();
    await appendNext(store, s0, events('a', 3));
    const all = await links();
    for (let n = 0; n < 3; n += 1) {
      feed.append(all);
      await settle();
    }
    expect(await namesIn(s0)).toEqual(['a-0', 'a-1', 'a-2']);
    expect(problems).toEqual([]);
  });

  it('reads from the store what the log lacks, even if the stream gets no further events', async () => {
    await start();
    await appendNext(store, s0, events('lost', 3));
    await appendNext(store, s1, events('kept', 1));
    feed.append(await links(3));
    await settle();
    expect(await namesIn(s0)).toEqual(['lost-0', 'lost-1', 'lost-2']);
    expect(await positionOf()).toBe(4);
    expect(problems).toEqual([]);
  });

  it('rewinds a partition to where it was before it fell behind, until it has caught up', async () => {
    let away = true;
    const readAll = store.readAll.bind(store);
    store.readAll = async (after, limit) => (away ? [] : readAll(after, limit));
    await start();
    await appendNext(store, s0, events('a', 2));
    feed.append([{ partition: 0, link: { partitions: PARTITIONS, follows: 2, position: 2, event: null } }]);
    await settle();
    expect(feed.committed[0]).toBe(0);
    away = false;
    await clock.advance(20_000);
    expect(await namesIn(s0)).toEqual(['a-0', 'a-1']);
    feed.append([{ partition: 0, link: { partitions: PARTITIONS, follows: 2, position: 2, event: null } }]);
    await settle();
    expect(feed.committed[0]).toBe(2);
  });

  it('repairs a stream from the store when an event arrives whose predecessor was never applied, whatever the feed claims', async () => {
    await start();
    await appendNext(store, s0, events('a', 5));
    const written = await store.readAll(0, 10);
    for (const at of [3, 1, 4]) {
      const recorded = written[at];
      if (recorded === undefined) throw new Error('nothing was written');
      const link = { partitions: PARTITIONS, follows: 0, position: recorded.position, event: recorded };
      feed.append([{ partition: 0, link }]);
    }
    await settle();
    expect(await namesIn(s0)).toEqual(['a-0', 'a-1', 'a-2', 'a-3', 'a-4']);
    expect(await models.parkedCount([names()])).toBe(0);
    expect(problems).toEqual([]);
  });

  it('parks an event that does not fit: its stream stops, others continue', async () => {
    const projector = await start();
    await appendNext(store, s0, [event('a'), event('poison'), event('b')]);
    await appendNext(store, s1, [event('c')]);
    feed.append(await links());
    await settle();
    expect([await namesIn(s0), await namesIn(s1)]).toEqual([['a'], ['c']]);
    expect([await projector.lag(), await projector.parked()]).toEqual([0, 1]);
    expect(await models.reachedPosition(names(), 4, 0)).toBe(true);
    expect(problems).toEqual(['Parked an event that cannot be applied; its stream stops here']);
  });

  it('builds a new version from the store, beside the old one, and continues with the feed', async () => {
    const first = await start();
    await appendNext(store, s0, events('a', 2));
    await appendNext(store, s1, events('b', 2));
    feed.append(await links());
    await settle();
    await first[Symbol.asyncDispose]();
    const loud = names({
      version: 2,
      evolve: (row, { stream, data }) => ({
        stream,
        names: [...(row?.names ?? []), (data['name'] as string).toUpperCase()],
      }),
    });
    await start([loud]);
    expect(feed.committed).toEqual(feed.log.map((all) => all.length));
    await settle();
    expect(await namesIn(s0, loud)).toEqual(['A-0', 'A-1']);
    expect((await models.open(loud)).live).toBe(true);
    await appendNext(store, s0, events('c', 1));
    feed.append(await links(4));
    await settle();
    expect(await namesIn(s0, loud)).toEqual(['A-0', 'A-1', 'C-0']);
    expect(await positionOf(loud)).toBe(5);
  });

  it('does not restart a build that a newer version has replaced, and continues with the others', async () => {
    const [old, next, other] = [names(), names({ version: 2 }), names({ name: 'others' })];
    await start([old, other]);
    await appendNext(store, s0, events('a', 1));
    feed.append(await links());
    await settle();
    const build = await models.begin(next);
    await models.swapIn(build);
    await appendNext(store, s0, events('b', 1));
    feed.append(await links(1));
    await clock.advance(10_000);
    expect(problems).toHaveLength(1);
    expect(await models.get(other, s0)).toMatchObject({ names: ['a-0', 'b-0'] });
    expect(await models.reopen(old, { ...build, id: -1 })).toBeNull();
    expect(await models.get(old, s0)).toBeNull();
    await appendNext(store, s0, events('c', 1));
    feed.append(await links(2));
    await settle();
    expect(await models.get(other, s0)).toMatchObject({ names: ['a-0', 'b-0', 'c-0'] });
    expect(problems).toHaveLength(1);
  });

  it('rebuilds everything, together with others, when the rows come from events that the store does not have', async () => {
    const ahead = await models.open(names());
    const put = [{ key: 'lost', row: {}, index: { partition: 'all', order: 'lost', tag: '' } }];
    await models.commit(ahead, { put, remove: [], progress: [], parked: [], position: 99 });
    await models.swapIn(ahead);
    for (const stream of [s0, s1, s2]) await appendNext(store, stream, events(stream, 2));
    const all = await links();
    let fails = true;
    const failing = writerWith(models, {
      commit: async (build: Build, changes: Changes) => {
        if (fails && changes.put.length > 0) {
          fails = false;
          // The store has grown past the old build before the new one is swapped in.
          for (let n = 0; n < 40; n += 1) await appendNext(store, s0, events(`more ${String(n)}`, 3));
          throw new Error('away');
        }
        return models.commit(build, changes);
      },
    });
    await start([names()], failing);
    await start();
    feed.append(all);
    for (let n = 0; n < 5; n += 1) {
      feed.rebalance();
      await clock.advance(20_000);
    }
    expect(await models.get(names(), 'lost')).toBeNull();
    for (const stream of [s1, s2]) expect(await namesIn(stream)).toEqual([`${stream}-0`, `${stream}-1`]);
    expect(await models.open(names())).toMatchObject({ live: true });
    expect(problems).toHaveLength(1);
  });

  it('retries failures for as long as it takes, and then continues normally', async () => {
    let away = false;
    const unless = <T>(run: () => Promise<T>): Promise<T> => (away ? Promise.reject(new Error('away')) : run());
    const writer = writerWith(models, {
      open: (...asked) => unless(() => models.open(...asked)),
      reopen: (...asked) => unless(() => models.reopen(...asked)),
      load: (build, keys, streams) => unless(() => models.load(build, keys, streams)),
      commit: (build: Build, changes: Changes) => unless(() => models.commit(build, changes)),
    });
    away = true;
    await start([names()], writer);
    await clock.advance(3_000);
    away = false;
    await clock.advance(10_000);
    await appendNext(store, s0, events('a', 1));
    feed.append(await links());
    await settle();
    expect(await namesIn(s0)).toEqual(['a-0']);
    away = true;
    await appendNext(store, s0, events('b', 1));
    feed.append(await links(1));
    await clock.advance(5_000);
    away = false;
    await clock.advance(10_000);
    expect(await namesIn(s0)).toEqual(['a-0', 'b-0']);
    expect(await positionOf()).toBe(2);
  });

  it('tries smaller transactions after a failed one, down to one event, and continues with each that is written', async () => {
    const narrow = writerWith(models, {
      commit: (build: Build, changes: Changes) =>
        changes.put.length > 1 ? Promise.reject(new Error('too large')) : models.commit(build, changes),
    });
    const streams = Array.from({ length: 20 }, (_, n) => `many-${n}`);
    for (const stream of streams) await appendNext(store, stream, events(stream, 1));
    feed.append(await links());
    await start([names()], narrow);
    for (let pauses = 0; pauses < 60; pauses += 1) await clock.advance(5_000);
    for (const stream of streams) expect(await namesIn(stream)).toEqual([`${stream}-0`]);
    expect(await positionOf()).toBe(20);
  });

  it('refuses late writes of a previous owner of a partition', async () => {
    let hold: Promise<void> = Promise.resolve();
    let goOn = (): void => undefined;
    const commits: boolean[] = [];
    const slow = writerWith(models, {
      commit: async (build: Build, changes: Changes) => {
        await hold;
        const written = await models.commit(build, changes);
        commits.push(written);
        return written;
      },
    });
    await start([names()], slow);
    hold = new Promise((resolve) => (goOn = resolve));
    await appendNext(store, s0, events('a', 2));
    feed.append(await links());
    await settle();
    await start();
    for (let n = 0; n < 3; n += 1) {
      feed.rebalance();
      await settle();
    }
    expect(await namesIn(s0)).toEqual(['a-0', 'a-1']);
    goOn();
    await settle();
    expect(commits[0]).toBe(false);
    expect(await namesIn(s0)).toEqual(['a-0', 'a-1']);
  });

  describe('making the rows that a rebuild makes', () => {
    const rebuilt = async (): Promise<unknown> => {
      const fresh = new MemoryReadModels(clock);
      await rebuild({ events: store, writer: fresh, clock }, projections);
      return everythingIn(fresh);
    };

    it('despite lost, duplicated and reordered messages', async () => {
      const fates = fc.infiniteStream(fc.constantFrom('kept', 'kept', 'kept', 'lost', 'doubled', 'late'));
      await fc.assert(
        fc.asyncProperty(history, fates, async (written, fate) => {
          store = await storeOf(written, new MemoryEventStore());
          models = new MemoryReadModels(clock);
          feed = new MemoryFeed(PARTITIONS);
          const projector = await start(projections);
          const late: FeedEntry[] = [];
          for (const entry of await links()) {
            const what = fate.next().value;
            if (what !== 'lost' && what !== 'late') feed.append([entry]);
            if (what === 'doubled') feed.append([entry]);
            if (what === 'late') late.push(entry);
            else if (late.length > 1) feed.append(late.splice(0));
          }
          feed.append(createChain(await store.lastPosition(), PARTITIONS).begin());
          await settle();
          expect(await everythingIn(models)).toEqual(await rebuilt());
          for (const of of projections) expect(await positionOf(of)).toBe(await store.lastPosition());
          await projector[Symbol.asyncDispose]();
          expect(problems).toEqual([]);
        }),
        { numRuns: 60 },
      );
    });

    it('despite partitions moving between three projectors that come and go', async () => {
      const moves = fc.array(fc.constantFrom('rebalance', 'join', 'leave', 'time'), { minLength: 4, maxLength: 12 });
      await fc.assert(
        fc.asyncProperty(history, moves, async (written, steps) => {
          store = await storeOf(written, new MemoryEventStore());
          models = new MemoryReadModels(clock);
          feed = new MemoryFeed(PARTITIONS);
          const members = [await start(projections), await start(projections), await start(projections)];
          const entries = [...(await links())];
          for (const step of steps) {
            feed.append(entries.splice(0, Math.ceil(entries.length / 2)));
            if (step === 'rebalance') feed.rebalance();
            else if (step === 'join') members.push(await start(projections));
            else if (step === 'leave' && members.length > 1) void members.shift()?.[Symbol.asyncDispose]();
            else await clock.advance(FEED_GATHER_MS);
          }
          feed.append(entries);
          await settle();
          expect(await everythingIn(models)).toEqual(await rebuilt());
          for (const of of projections) expect(await positionOf(of)).toBe(await store.lastPosition());
          for (const member of members) await member[Symbol.asyncDispose]();
          expect(problems).toEqual([]);
        }),
        { numRuns: 40 },
      );
    });
  });
});
