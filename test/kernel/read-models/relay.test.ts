import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { MemoryFeed } from '../../support/memory/event-feed.js';
import { MemoryRelayLease } from '../../support/memory/relay-lease.js';
import { pause } from '../../../src/kernel/concurrency/pause.js';
import { linksInto } from '../../../src/kernel/read-models/relay-outputs.js';
import { CHECKPOINT_MS, Relay, STANDBY_MS } from '../../../src/kernel/read-models/relay.js';
import { partitionOf } from '../../../src/kernel/base/partition.js';
import type { FeedEntry, FeedWriter } from '../../../src/ports/event-feed.js';
import type { RelayLease } from '../../../src/ports/relay-lease.js';
import { events } from '../../support/events.js';
import { ManualClock } from '../../support/manual-clock.js';
import { appendNext } from '../../support/append-next.js';

const PARTITIONS = 3;
const STREAMS = ['a', 'b', 'c', 'd', 'e'];

/** A log whose writes run through `write` first. */
const feedWith = (feed: MemoryFeed, write: (entries: readonly FeedEntry[]) => Promise<void>): FeedWriter => ({
  open: async () => ({
    partitions: PARTITIONS,
    write: async (entries) => {
      await write(entries);
      feed.append(entries);
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }),
});

/** A log that holds each write of events back until the test acknowledges it. */
const acknowledging = (feed: MemoryFeed) => {
  let acknowledge = (): void => undefined;
  return {
    writer: feedWith(feed, async (entries) => {
      if (entries.some(({ link }) => link.event !== null))
        await new Promise<void>((resolve) => (acknowledge = resolve));
    }),
    acknowledge: () => acknowledge(),
  };
};

describe('The relay', () => {
  let store: MemoryEventStore;
  let clock: ManualClock;
  let feed: MemoryFeed;
  let lease: MemoryRelayLease;
  let running: Relay[];
  let problems: string[];

  beforeEach(() => {
    store = new MemoryEventStore();
    clock = new ManualClock();
    feed = new MemoryFeed(PARTITIONS);
    lease = new MemoryRelayLease(clock);
    running = [];
    problems = [];
  });
  afterEach(async () => {
    for (const relay of running) await relay[Symbol.asyncDispose]();
  });

  const start = async (
    holder = 'one',
    into: FeedWriter = feed,
    under: RelayLease = lease,
    gatherMs = 0,
  ): Promise<Relay> => {
    const log = { info: () => undefined, error: (_: object, message: string) => void problems.push(message) };
    const output = linksInto(into, clock);
    const relay = new Relay({ events: store, output, lease: under, clock, log, topic: 'links', gatherMs, holder });
    running.push(relay);
    relay.start();
    await clock.advance(0);
    return relay;
  };

  const append = async (round: number): Promise<void> => {
    for (const stream of STREAMS) await appendNext(store, stream, events(`${stream}-${round}`, 2));
  };

  /** The events in a partition, each once, in the order of first delivery. */
  const heldIn = (partition: number): readonly number[] => [
    ...new Set((feed.log[partition] ?? []).flatMap(({ event }) => (event === null ? [] : [event.position]))),
  ];

  /** Whether each partition leads a new reader up to `end` through each of its events. */
  const expectWhole = async (): Promise<void> => {
    const all = await store.readAll(0, 10_000);
    const end = await store.lastPosition();
    for (const [partition, links] of feed.log.entries()) {
      let reached = 0;
      const met: number[] = [];
      for (const { follows, position, event } of links) {
        if (position <= reached) continue;
        expect(follows, 'no link begins behind what came before').toBeLessThanOrEqual(reached);
        if (event !== null) met.push(event.position);
        reached = position;
      }
      expect(reached).toBe(end);
      const own = all.filter(({ stream }) => partitionOf(stream, PARTITIONS) === partition);
      expect(met).toEqual(own.map(({ position }) => position));
    }
  };

  it('writes existing and new events, each stream to its partition and in order, and reports its progress to every partition', async () => {
    await append(1);
    const relay = await start();
    await append(2);
    await clock.advance(0);
    await expectWhole();
    expect(await relay.lag()).toBe(0);
    expect(problems).toEqual([]);
  });

  it('writes a single event immediately, and gathers those that follow for one more write', async () => {
    let writes = 0;
    const counting = feedWith(feed, () => Promise.resolve(void (writes += 1)));
    await append(1);
    await start('one', counting, lease, 20);
    const before = writes;
    await append(2);
    await append(3);
    await clock.advance(19);
    expect(writes).toBe(before);
    await clock.advance(1);
    expect(writes).toBe(before + 1);
    await expectWhole();
  });

  it('rewrites what it wrote without a checkpoint before it was killed, and nothing else', async () => {
    let killed = false;
    const dead = new Promise<never>(() => undefined);
    const dying: RelayLease = {
      holdsMs: lease.holdsMs,
      take: (holder) => lease.take(holder),
      keep: (holder, position) => (killed ? dead : lease.keep(holder, position)),
      release: (holder) => (killed ? dead : lease.release(holder)),
    };
    await append(1);
    await start(
      'one',
      feedWith(feed, () => (killed ? dead : Promise.resolve())),
      dying,
    );
    await clock.advance(CHECKPOINT_MS);
    const checkpoint = lease.checkpoint;
    expect(checkpoint).toBe(await store.lastPosition());
    await append(2);
    await clock.advance(0);
    killed = true;
    running = [];
    const before = feed.log.map((links) => links.length);
    await clock.advance(lease.holdsMs);
    await start('two');
    await append(3);
    await clock.advance(0);
    for (const [partition, links] of feed.log.entries()) {
      const again = links.slice(before[partition]).flatMap(({ event }) => (event === null ? [] : [event.position]));
      expect(Math.min(...again)).toBeGreaterThan(checkpoint);
      expect(again, 'in order').toEqual([...again].sort((a, b) => a - b));
    }
    await expectWhole();
  });

  it('advances its checkpoint only over acknowledged writes', async () => {
    const slow = acknowledging(feed);
    await start('one', slow.writer);
    await append(1);
    await clock.advance(CHECKPOINT_MS * 3);
    expect(lease.checkpoint).toBe(0);
    for (let n = 0; n < 10; n += 1) {
      slow.acknowledge();
      await clock.advance(0);
    }
    await clock.advance(CHECKPOINT_MS);
    expect(lease.checkpoint).toBe(await store.lastPosition());
  });

  it('advances its checkpoint over the batch in flight when it is stopped', async () => {
    const slow = acknowledging(feed);
    const relay = await start('one', slow.writer);
    await appendNext(store, 'a', events('a-1', 2));
    await clock.advance(0);
    const stopped = relay[Symbol.asyncDispose]();
    await clock.advance(0);
    slow.acknowledge();
    await stopped;
    expect(lease.checkpoint).toBe(await store.lastPosition());
  });

  it('restarts behind its checkpoint when a write failed, and leaves nothing out', async () => {
    let writes = 0;
    await start(
      'one',
      feedWith(feed, async (entries) => {
        writes += 1;
        if (writes % 3 !== 2) return;
        // Some of it was written all the same.
        feed.append(entries.slice(0, 2));
        throw new Error('the broker went away');
      }),
    );
    for (let round = 0; round < 6; round += 1) {
      await append(round);
      await clock.advance(300);
    }
    await clock.advance(20_000);
    expect(problems.length).toBeGreaterThan(1);
    await expectWhole();
  });

  it('stands by while another is active, and takes over once that one is gone', async () => {
    const first = await start('one');
    const second = await start('two');
    await append(1);
    await clock.advance(STANDBY_MS * 20);
    expect([await first.lag(), await second.lag()]).toEqual([0, null]);
    await first[Symbol.asyncDispose]();
    const before = feed.log.map((links) => links.length);
    await clock.advance(STANDBY_MS);
    expect([await first.lag(), await second.lag()]).toEqual([null, 0]);
    await append(2);
    await clock.advance(0);
    await expectWhole();
    const again = feed.log.flatMap((links, at) => links.slice(before[at]).filter(({ event }) => event !== null));
    expect(again, 'a relay that ended in order leaves nothing to be written again').toHaveLength(STREAMS.length * 2);
  });

  it('stops writing when it finds that another has replaced it', async () => {
    await start('one');
    await lease.release('one');
    await lease.take('two');
    await clock.advance(CHECKPOINT_MS);
    await append(1);
    await clock.advance(CHECKPOINT_MS);
    expect(feed.log.flat().filter(({ event }) => event !== null)).toEqual([]);
  });

  describe('whose output opens only after its lease would expire', () => {
    const OPEN_MS = 1_500;
    let short: MemoryRelayLease;
    let slow: FeedWriter;
    beforeEach(() => {
      short = new MemoryRelayLease(clock, 1_000);
      slow = {
        open: async () => {
          await pause(clock, OPEN_MS);
          return feed.open();
        },
      };
    });

    it('keeps the lease in the meantime, and its progress', async () => {
      await append(1);
      await short.take('zero');
      await short.keep('zero', 3);
      await short.release('zero');
      const first = await start('one', slow, short);
      const second = await start('two', slow, short);
      await clock.advance(OPEN_MS - 1);
      expect([short.checkpoint, await first.lag()]).toEqual([3, null]);
      await clock.advance(20_000);
      expect(short.checkpoint).toBe(await store.lastPosition());
      expect([await first.lag(), await second.lag()]).toEqual([0, null]);
    });

    it('writes no event when the lease was lost in the meantime', async () => {
      await append(1);
      await start('one', slow, short);
      await short.release('one');
      await short.take('two');
      for (let passedMs = 0; passedMs < OPEN_MS * 2; passedMs += CHECKPOINT_MS) {
        await clock.advance(CHECKPOINT_MS);
        await short.keep('two', 0);
      }
      expect(feed.log.flat().filter(({ event }) => event !== null)).toEqual([]);
    });
  });

  it('gives up its lease if it could not renew it within its duration', async () => {
    let away = false;
    const unreachable: RelayLease = {
      holdsMs: lease.holdsMs,
      take: (holder) => (away ? Promise.reject(new Error('away')) : lease.take(holder)),
      keep: (holder, position) => (away ? Promise.reject(new Error('away')) : lease.keep(holder, position)),
      release: (holder) => (away ? Promise.reject(new Error('away')) : lease.release(holder)),
    };
    const relay = await start('one', feed, unreachable);
    away = true;
    await clock.advance(lease.holdsMs - CHECKPOINT_MS);
    expect(await relay.lag()).toBe(0);
    await clock.advance(CHECKPOINT_MS * 2);
    expect(await relay.lag()).toBeNull();
    away = false;
    await clock.advance(10_000);
    expect(await relay.lag()).toBe(0);
  });

  it('does no harm beside a relay that no longer holds the lease: all links are true', async () => {
    let hold: Promise<void> = Promise.resolve();
    let goOn = (): void => undefined;
    await start(
      'one',
      feedWith(feed, () => hold),
    );
    await append(1);
    await clock.advance(CHECKPOINT_MS);
    hold = new Promise((resolve) => (goOn = resolve));
    await append(2);
    await clock.advance(0);
    await lease.release('one');
    await start('two');
    await append(3);
    await clock.advance(0);
    goOn();
    await clock.advance(CHECKPOINT_MS);
    await expectWhole();
  });

  it('starts over when its checkpoint is beyond the end of the store', async () => {
    await lease.take('old');
    await lease.keep('old', 1_000);
    await lease.release('old');
    await append(1);
    await start();
    await expectWhole();
    expect(heldIn(0).length + heldIn(1).length + heldIn(2).length).toBe(STREAMS.length * 2);
    expect(problems).toEqual([expect.stringContaining('beyond the end of the event store')]);
  });
});
