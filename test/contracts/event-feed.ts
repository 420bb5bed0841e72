import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../support/memory/event-store.js';
import type { EventStore } from '../../src/ports/event-store.js';
import { createChain } from '../../src/kernel/read-models/feed-chain.js';
import { partitionOf } from '../../src/kernel/base/partition.js';
import type { EventFeed, FeedBatch, FeedLink, FeedSession, FeedWriter } from '../../src/ports/event-feed.js';
import { event } from '../support/events.js';
import { appendNext } from '../support/append-next.js';

const poll = { timeout: 60_000, interval: 20 };

/** A log for one suite: every call opens another client of it. */
export type FeedUnderTest = AsyncDisposable & {
  readonly partitions: number;
  writer(): FeedWriter;
  feed(): EventFeed;
};

/** A reader that keeps the events it gets. */
export const readerOf = (
  feed: EventFeed,
  handled: (batch: FeedBatch) => Promise<boolean> = () => Promise.resolve(true),
) => {
  const stop = new AbortController();
  const links: FeedLink[][] = [];
  let owned: readonly number[] = [];
  const following = feed.follow(
    {
      assigned: (partitions) => void (owned = partitions),
      handle: async (batch) => {
        const done = await handled(batch);
        if (!batch.isStale()) links[batch.partition] = [...(links[batch.partition] ?? []), ...batch.links];
        return done;
      },
    },
    stop.signal,
  );
  return {
    links,
    get owned() {
      return owned;
    },
    get count() {
      return links.flat().length;
    },
    stop: async () => {
      stop.abort();
      await following;
    },
  };
};

/** Appends `rounds` events to each of `streams` streams. */
export const appendRounds = async (store: MemoryEventStore, streams: number, rounds: number): Promise<void> => {
  const last = await store.lastPosition();
  for (let round = 0; round < rounds; round += 1) {
    for (let n = 0; n < streams; n += 1) await appendNext(store, `s${n}`, [event(`${last}-${round}-${n}`)]);
  }
};

/** Writes everything in the store after `after`; returns the number of links. */
export const writeAll = async (
  session: FeedSession,
  store: Pick<EventStore, 'readAll'>,
  after = 0,
): Promise<number> => {
  const entries = createChain(after, session.partitions).next(await store.readAll(after, 100_000));
  await session.write(entries);
  return entries.length;
};

/** The promises of ports/event-feed.ts, for every adapter. */
export const eventFeedContract = (name: string, open: () => FeedUnderTest): void => {
  describe(`${name}, as a partitioned log`, () => {
    let log: FeedUnderTest;
    let store: MemoryEventStore;
    let readers: { stop(): Promise<void> }[];
    beforeEach(() => {
      log = open();
      store = new MemoryEventStore();
      readers = [];
    });
    afterEach(async () => {
      await Promise.all(readers.map((reader) => reader.stop()));
      await log[Symbol.asyncDispose]();
    });
    const read = (handled?: Parameters<typeof readerOf>[1]) => {
      const reader = readerOf(log.feed(), handled);
      readers.push(reader);
      return reader;
    };

    it('keeps the order of each stream, and returns every event unchanged', async () => {
      await appendRounds(store, 40, 25);
      await using session = await log.writer().open();
      expect(session.partitions).toBe(log.partitions);
      const written = await writeAll(session, store);
      const reader = read();
      await expect.poll(() => reader.count, poll).toBe(written);
      const all = await store.readAll(0, 100_000);
      for (const [partition, links] of reader.links.entries()) {
        const events = links.flatMap(({ event }) => event ?? []);
        expect(events).toEqual(all.filter(({ stream }) => partitionOf(stream, log.partitions) === partition));
      }
    });

    it('continues in a new reader where the last one ended, and redelivers unfinished events', async () => {
      await appendRounds(store, 10, 10);
      await using session = await log.writer().open();
      const written = await writeAll(session, store);
      const first = read(({ partition }) => Promise.resolve(partition !== 3));
      await expect.poll(() => first.count, poll).toBe(written);
      await first.stop();
      const before = await store.lastPosition();
      await appendRounds(store, 10, 1);
      const more = await writeAll(session, store, before);
      const second = read();
      const again = first.links[3]?.length ?? 0;
      await expect.poll(() => second.count, poll).toBe(more + again);
      expect(again).toBeGreaterThan(0);
      expect(second.links[3]?.slice(0, again)).toEqual(first.links[3]);
    });

    it('shares the partitions between readers, and reassigns those of a reader that leaves', async () => {
      const all = Array.from({ length: log.partitions }, (_, partition) => partition);
      await using session = await log.writer().open();
      const members = [read(), read(), read()];
      const shares = (): number[] => members.flatMap(({ owned }) => owned).sort((a, b) => a - b);
      await expect
        .poll(() => [shares().length, members.every(({ owned }) => owned.length > 0)], poll)
        .toEqual([all.length, true]);
      expect(shares()).toEqual(all);
      const gone = members.pop();
      await gone?.stop();
      await expect.poll(shares, poll).toEqual(all);
      await appendRounds(store, 20, 5);
      const written = await writeAll(session, store);
      await expect.poll(() => members.reduce((sum, { count }) => sum + count, 0), poll).toBe(written);
    });
  });
};
