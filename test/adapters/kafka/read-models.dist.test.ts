import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { KafkaFeed } from '../../../src/adapters/kafka/consumer.js';
import { KafkaFeedWriter } from '../../../src/adapters/kafka/producer.js';
import { PostgresReadModels } from '../../../src/adapters/postgres/read-models.js';
import { PostgresRelayLease } from '../../../src/adapters/postgres/relay-lease.js';
import { MemoryEventStore } from '../../support/memory/event-store.js';
import { systemClock } from '../../../src/adapters/system/clock.js';
import { FeedProjector } from '../../../src/kernel/read-models/feed-projector.js';
import { rebuild } from '../../../src/kernel/read-models/rebuild.js';
import { linksInto } from '../../../src/kernel/read-models/relay-outputs.js';
import { Relay } from '../../../src/kernel/read-models/relay.js';
import type { FeedEntry, FeedSession, FeedWriter } from '../../../src/ports/event-feed.js';
import type { RelayLease } from '../../../src/ports/relay-lease.js';
import { projections } from '../../../projections/registry.js';
import { history, storeOf } from '../../support/histories.js';
import { keptLog, openKafka } from '../../support/kafka.js';
import { TestSchema } from '../../support/postgres.js';
import { MemoryReadModels } from '../../support/memory/read-models.js';
import { everythingIn } from '../../support/read-models.js';

const WAIT_MS = 60_000;
const LEASE_MS = 2_000;
const poll = { timeout: WAIT_MS, interval: 50 };
const pass = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Relays and projectors of one namespace, each as if in its own process. */
const open = () => {
  const kafka = openKafka();
  const schema = new TestSchema();
  const store = new MemoryEventStore();
  const log = keptLog();
  const running: AsyncDisposable[] = [];
  const openModels = () => new PostgresReadModels(schema.again(), systemClock);
  const models = openModels();
  return {
    kafka,
    schema,
    store,
    models,
    log,
    startRelay: (
      holder: string,
      within: (feed: FeedWriter, lease: RelayLease) => readonly [FeedWriter, RelayLease],
    ) => {
      const [feed, lease] = within(
        new KafkaFeedWriter(kafka.settings),
        PostgresRelayLease.ofEvents(schema.again(), [], LEASE_MS),
      );
      const output = linksInto(feed, systemClock);
      const relay = new Relay({
        events: store,
        output,
        lease,
        clock: systemClock,
        log,
        topic: 'links',
        gatherMs: 20,
        holder,
      });
      relay.start();
      running.push(relay);
      return relay;
    },
    startProjector: () => {
      const own = openModels();
      const feed = new KafkaFeed({ ...kafka.settings, log });
      const projector = new FeedProjector({ events: store, writer: own, clock: systemClock, log, feed }, projections);
      projector.start();
      const dispose = async (): Promise<void> => {
        await projector[Symbol.asyncDispose]();
        await own[Symbol.asyncDispose]();
      };
      running.push({ [Symbol.asyncDispose]: dispose });
      return { projector, dispose };
    },
    write: async (seed: number): Promise<void> => {
      for (const written of fc.sample(history, { numRuns: 20, seed })) await storeOf(written, store);
    },
    expectAsRebuilt: async (): Promise<void> => {
      const last = await store.lastPosition();
      for (const of of projections) expect(await models.reachedPosition(of, last, WAIT_MS), of.name).toBe(true);
      const fresh = new MemoryReadModels(systemClock);
      await rebuild({ events: store, writer: fresh, clock: systemClock }, projections);
      expect(await everythingIn(models)).toEqual(await everythingIn(fresh));
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(running.map((each) => each[Symbol.asyncDispose]()));
      await models[Symbol.asyncDispose]();
      await schema[Symbol.asyncDispose]();
      await kafka[Symbol.asyncDispose]();
    },
  };
};
/** The writer with another write function. */
const writing = (
  feed: FeedWriter,
  write: (session: FeedSession, entries: readonly FeedEntry[]) => Promise<void>,
): FeedWriter => ({
  open: async () => {
    const session = await feed.open();
    return {
      partitions: session.partitions,
      write: (entries) => write(session, entries),
      [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
    };
  },
});
const alive = (feed: FeedWriter, lease: RelayLease) => [feed, lease] as const;

describe('Read models that Kafka keeps current', () => {
  let scene: ReturnType<typeof open>;
  beforeEach(() => {
    scene = open();
  });
  afterEach(() => scene[Symbol.asyncDispose]());

  it('equal a rebuild while three projectors share the work', async () => {
    const relay = scene.startRelay('one', alive);
    const { projector } = scene.startProjector();
    scene.startProjector();
    scene.startProjector();
    for (let round = 0; round < 5; round += 1) await scene.write(round);
    await scene.expectAsRebuilt();
    await expect.poll(async () => [await relay.lag(), await projector.lag()], poll).toEqual([0, 0]);
  });

  it('equal a rebuild after a storm in which projectors come and go and partitions keep moving', async () => {
    scene.startRelay('one', alive);
    const members = [scene.startProjector(), scene.startProjector(), scene.startProjector()];
    for (let round = 0; round < 12; round += 1) {
      await scene.write(round);
      const gone = members.shift();
      await Promise.all([gone?.dispose(), scene.write(100 + round)]);
      members.push(scene.startProjector());
      await pass(400);
    }
    await scene.expectAsRebuilt();
    expect(await scene.models.parkedCount(projections)).toBe(0);
  });

  it('equal a rebuild when a relay is killed between a write and its checkpoint, and another replaces it', async () => {
    let killed = false;
    // The last checkpoint that it writes.
    let reached = Infinity;
    // Cut off from one moment on, as a killed process looks to the others.
    scene.startRelay('killed', (feed, lease) => [
      writing(feed, async (session, entries) => {
        if (killed) throw new Error('killed');
        await session.write(entries);
      }),
      {
        holdsMs: lease.holdsMs,
        take: (holder) => (killed ? Promise.resolve(null) : lease.take(holder)),
        keep: async (holder, position) => !killed && (await lease.keep(holder, Math.min(position, reached))),
        release: (holder) => (killed ? Promise.resolve() : lease.release(holder)),
      },
    ]);
    scene.startProjector();
    await scene.write(1);
    await scene.expectAsRebuilt();
    const checkpoint = async (): Promise<number> =>
      (await scene.schema.query<{ position: number }>('SELECT position FROM relays'))[0]?.position ?? -1;
    reached = await scene.store.lastPosition();
    await scene.write(2);
    await scene.expectAsRebuilt();
    killed = true;
    expect(await checkpoint()).toBeLessThan(await scene.store.lastPosition());
    await scene.write(3);
    const next = scene.startRelay('next', alive);
    await scene.expectAsRebuilt();
    await expect.poll(() => next.lag(), poll).toBe(0);
    await expect.poll(checkpoint, poll).toBe(await scene.store.lastPosition());
  });

  it('equal a rebuild when messages arrive twice and out of order', async () => {
    scene.startRelay('confused', (feed, lease) => [
      writing(feed, async (session, entries) => {
        await session.write([...entries].reverse());
        await session.write(entries.filter((_, n) => n % 3 !== 0));
        await session.write(entries.slice(0, 5));
      }),
      lease,
    ]);
    scene.startProjector();
    scene.startProjector();
    for (let round = 0; round < 5; round += 1) await scene.write(round);
    await scene.expectAsRebuilt();
    expect(await scene.models.parkedCount(projections)).toBe(0);
  });

  it('equal a rebuild when the topic was lost with everything in it', async () => {
    const relay = scene.startRelay('one', alive);
    await scene.write(1);
    await expect.poll(() => relay.lag(), poll).toBe(0);
    await relay[Symbol.asyncDispose]();
    await scene.kafka.admin((admin) => admin.deleteTopics({ topics: [scene.kafka.topic] }));
    scene.startProjector();
    scene.startRelay('two', alive);
    await scene.expectAsRebuilt();
    await scene.write(2);
    await scene.expectAsRebuilt();
  });
});
