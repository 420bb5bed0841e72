import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { cloudEventsInto, linksInto, TELL_MS } from '../../../src/kernel/read-models/relay-outputs.js';
import { toCloudEvent } from '../../../src/features/npcs/cloud-event.js';
import type { CloudEvent } from '../../../src/ports/event-publisher.js';
import { npcStream, tenantStream } from '../../../src/kernel/base/stream-names.js';
import type { FeedEntry, FeedWriter } from '../../../src/ports/event-feed.js';
import type { EventPublisher } from '../../../src/ports/event-publisher.js';
import type { RecordedEvent } from '../../../src/ports/event-store.js';
import { appendNext } from '../../support/append-next.js';
import { event } from '../../support/events.js';
import { ManualClock } from '../../support/manual-clock.js';

const PARTITIONS = 8;

/** A log that keeps each write separate. */
const keptFeed = () => {
  const writes: (readonly FeedEntry[])[] = [];
  const feed: FeedWriter = {
    open: async () => ({
      partitions: PARTITIONS,
      write: async (entries) => void writes.push(entries),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }),
  };
  return { writes, feed };
};

const recorded = async (count: number, streamOf = (n: number) => `s${n}`): Promise<readonly RecordedEvent[]> => {
  const store = new MemoryEventStore();
  for (let n = 0; n < count; n += 1) await appendNext(store, streamOf(n), [event(`e${n}`)]);
  return store.readAll(0, count);
};

/** Whether each partition leads a new reader from the beginning to `end`. */
const expectLedTo = (end: number, writes: readonly (readonly FeedEntry[])[]): void => {
  const reached = Array.from({ length: PARTITIONS }, () => 0);
  for (const { partition, link } of writes.flat()) {
    expect(link.follows).toBeLessThanOrEqual(reached[partition] ?? Infinity);
    reached[partition] = Math.max(reached[partition] ?? 0, link.position);
  }
  expect(reached).toEqual(reached.map(() => end));
};

const emptyOf = (write: readonly FeedEntry[] = []): number => write.filter(({ link }) => link.event === null).length;

describe('Links', () => {
  it('report its progress to every partition immediately when nothing more waits', async () => {
    const { writes, feed } = keptFeed();
    const session = await linksInto(feed, new ManualClock()).open(0);
    const [first] = await recorded(1);
    if (first === undefined) throw new Error('nothing was recorded');
    await session.write([first], false);
    expect(writes.map(emptyOf)).toEqual([PARTITIONS, PARTITIONS - 1]);
    expectLedTo(1, writes);
  });

  it('report it once at the end of a burst, and now and then during it', async () => {
    const { writes, feed } = keptFeed();
    const clock = new ManualClock();
    const session = await linksInto(feed, clock).open(0);
    const all = await recorded(20);
    for (const [n, one] of all.entries()) {
      if (n === 10) await clock.advance(TELL_MS);
      await session.write([one], n < all.length - 1);
    }
    const told = writes.slice(1).flatMap((write, n) => (emptyOf(write) > 0 ? [n] : []));
    expect(told).toEqual([10, 19]);
    expectLedTo(20, writes);
  });
});

describe('The public output', () => {
  it('publishes only the events of minds, in order', async () => {
    const published: CloudEvent[] = [];
    const publisher: EventPublisher = {
      open: async () => ({
        write: async (events) => void published.push(...events),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      }),
    };
    const streams = [
      npcStream('studio', 'a'),
      tenantStream('studio'),
      'signing-keys',
      npcStream('studio', 'b'),
      'npc-',
    ];
    const session = await cloudEventsInto(publisher, (event) => toCloudEvent(event, '/town')).open(0);
    await session.write(await recorded(5, (n) => streams[n] ?? ''), false);
    expect(published.map(({ source, npcid, revision }) => [source, npcid, revision])).toEqual([
      ['/town', 'a', 0],
      ['/town', 'b', 0],
    ]);
  });
});
