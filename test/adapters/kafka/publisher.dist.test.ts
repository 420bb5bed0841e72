import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { KafkaEventPublisher } from '../../../src/adapters/kafka/publisher.js';
import { MemoryEventStore } from '../../support/memory/event-store.js';
import { MemoryRelayLease } from '../../support/memory/relay-lease.js';
import { systemClock } from '../../../src/adapters/system/clock.js';
import { cloudEventsInto } from '../../../src/kernel/read-models/relay-outputs.js';
import { Relay } from '../../../src/kernel/read-models/relay.js';
import { toCloudEvent } from '../../../src/features/npcs/cloud-event.js';
import type { CloudEvent } from '../../../src/ports/event-publisher.js';
import { npcStream, tenantStream } from '../../../src/kernel/base/stream-names.js';
import type { EventPublisher } from '../../../src/ports/event-publisher.js';
import type { RelayLease } from '../../../src/ports/relay-lease.js';
import { appendNext } from '../../support/append-next.js';
import { event } from '../../support/events.js';
import { keptLog, openKafka } from '../../support/kafka.js';
import { readPlainly, type SeenMessage } from '../../support/plain-consumer.js';

const poll = { timeout: 60_000, interval: 20 };
const SOURCE = '/town';
const MINDS = ['mira', 'old gate/é', 'x%2Fy', 'wolf', 'fox'];
const streamOf = (npcId: string): string => npcStream('studio', npcId);

describe('The public topic', () => {
  let kafka: ReturnType<typeof openKafka>;
  let topic: string;
  let store: MemoryEventStore;
  let lease: MemoryRelayLease;
  let running: Relay[];
  beforeEach(() => {
    kafka = openKafka();
    topic = `${kafka.settings.namespace}.minds`;
    store = new MemoryEventStore();
    lease = new MemoryRelayLease(systemClock, 1_000);
    running = [];
  });
  afterEach(async () => {
    for (const relay of running) await relay[Symbol.asyncDispose]();
    await kafka.admin(async (admin) => {
      if ((await admin.listTopics()).includes(topic)) await admin.deleteTopics({ topics: [topic] });
    });
    await kafka[Symbol.asyncDispose]();
  });

  const publisher = (): KafkaEventPublisher => new KafkaEventPublisher(kafka.settings, topic);
  const start = (holder: string, into: EventPublisher = publisher(), under: RelayLease = lease): Relay => {
    const output = cloudEventsInto(into, (event) => toCloudEvent(event, SOURCE));
    const relay = new Relay({
      events: store,
      output,
      lease: under,
      clock: systemClock,
      log: keptLog(),
      topic,
      gatherMs: 20,
      holder,
    });
    relay.start();
    running.push(relay);
    return relay;
  };
  /** One more event for each mind, and one of a tenant. */
  const append = async (round: number): Promise<void> => {
    for (const npcId of MINDS) {
      const patch = { round, text: 'é'.repeat(round) };
      await appendNext(store, streamOf(npcId), [
        event(`${npcId}-${String(round)}`, { type: 'StateChanged', data: { turnId: 't', patch } }),
      ]);
    }
    await appendNext(store, tenantStream('studio'), [
      event(`key-${String(round)}`, { type: 'KeyIssued', data: { hash: 'secret' } }),
    ]);
  };
  const read = (events: number, isolation?: 'read_committed' | 'read_uncommitted') =>
    readPlainly(kafka.settings.brokers.join(','), topic, events, isolation);
  const published = async (): Promise<readonly CloudEvent[]> =>
    (await store.readAll(0, 1_000)).flatMap((one) => toCloudEvent(one, SOURCE) ?? []);
  /** The events of each mind in the order of first delivery. */
  const firstOf = (seen: readonly SeenMessage[]): Readonly<Record<string, readonly number[]>> =>
    Object.fromEntries(
      MINDS.map((npcId) => {
        const own = seen.filter(({ event: { npcid } }) => npcid === npcId).map(({ event: { revision } }) => revision);
        return [npcId, [...new Set(own)]];
      }),
    );
  const upTo = (rounds: number) =>
    Object.fromEntries(MINDS.map((npcId) => [npcId, Array.from({ length: rounds }, (_, revision) => revision)]));

  it('is read in another language: CloudEvents, in order within each mind, each mind in the partition of its key [11.7a, 11.7c, 11.7d]', async () => {
    for (let round = 0; round < 4; round += 1) await append(round);
    start('one');
    const expected = await published();
    const seen = await read(expected.length);
    const byId = (events: readonly CloudEvent[]) => new Map(events.map((one) => [one.id, one]));
    expect(byId(seen.map((message) => message.event))).toEqual(byId(expected));
    expect(seen).toHaveLength(expected.length);
    expect(firstOf(seen)).toEqual(upTo(4));
    for (const { event: one, headers, key, partition, partitionOfKey } of seen) {
      expect(headers).toEqual({ 'content-type': 'application/cloudevents+json' });
      expect(key).toBe(`studio/${encodeURIComponent(one.npcid)}`);
      expect(partition).toBe(partitionOfKey);
    }
    expect(new Set(seen.map(({ partition }) => partition)).size).toBeGreaterThan(1);
  });

  it('has no gaps and stays in order when a relay fails to record its writes and another replaces it [11.7d]', async () => {
    let cut = false;
    const dead = new Promise<never>(() => undefined);
    const deaf: RelayLease = {
      holdsMs: lease.holdsMs,
      take: (holder) => lease.take(holder),
      // It never records what it has published.
      keep: (holder) => (cut ? dead : lease.keep(holder, 0)),
      release: (holder) => (cut ? dead : lease.release(holder)),
    };
    for (let round = 0; round < 3; round += 1) await append(round);
    const first = start('deaf', publisher(), deaf);
    await expect.poll(() => first.lag(), poll).toBe(0);
    cut = true;
    running = [];
    for (let round = 3; round < 6; round += 1) await append(round);
    const next = start('next');
    await expect.poll(() => next.lag(), poll).toBe(0);
    const seen = await read(MINDS.length * 6);
    expect(firstOf(seen)).toEqual(upTo(6));
    expect(seen.length, 'what the first one wrote is there twice').toBeGreaterThan(MINDS.length * 6);
  });

  it('accepts nothing more from a relay that hung while another replaced it', async () => {
    for (let round = 0; round < 4; round += 1) await append(round);
    const all = await published();
    await using hung = await publisher().open();
    await hung.write(all.slice(0, 5));
    await using next = await publisher().open();
    await next.write(all.slice(0, 10));
    await expect(hung.write(all.slice(15, 20))).rejects.toThrow();
    await next.write(all.slice(10));
    const seen = await read(all.length, 'read_uncommitted');
    expect(firstOf(seen)).toEqual(upTo(4));
  });

  it('carries only the envelope of an event that is too large for the brokers [11.7b]', async () => {
    await append(0);
    const [small] = await published();
    if (small === undefined) throw new Error('nothing was recorded');
    const large = { ...small, id: 'large', data: { text: 'é'.repeat(600_000) } };
    await using session = await publisher().open();
    await session.write([large, small]);
    const seen = await read(2);
    const { data: _, datacontenttype: __, ...envelope } = large;
    expect(seen.map((message) => message.event)).toEqual([{ ...envelope, dataomitted: 'too-large' }, small]);
  });
});
