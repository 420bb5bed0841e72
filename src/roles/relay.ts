import { toCloudEvent } from '../features/npcs/cloud-event.js';
import { eventsTopic, type KafkaSettings } from '../adapters/kafka/client.js';
import { KafkaFeedWriter } from '../adapters/kafka/producer.js';
import { KafkaEventPublisher } from '../adapters/kafka/publisher.js';
import type { Postgres } from '../adapters/postgres/open.js';
import { PostgresRelayLease } from '../adapters/postgres/relay-lease.js';
import { cloudEventsInto, linksInto } from '../kernel/read-models/relay-outputs.js';
import { Relay } from '../kernel/read-models/relay.js';
import type { Clock } from '../ports/clock.js';
import type { EventStore } from '../ports/event-store.js';
import type { Random } from '../ports/random.js';

export type RelayRoleOptions = KafkaSettings & {
  readonly events: EventStore;
  readonly postgres: Postgres;
  readonly clock: Clock;
  readonly random: Random;
  /** The full name of the public topic (`KAFKA_PUBLIC_TOPIC`); null publishes nothing. */
  readonly publicTopic: string | null;
};

/** The relays of a process. */
export type RunningRelays = AsyncDisposable & {
  /** How far the relay that is furthest behind is behind the event store, in global positions; null while all stand by. @throws what the event store throws */
  lag(): Promise<number | null>;
};

/** How long events are gathered after a write, in milliseconds: what lists wait for longer at most. */
const GATHER_MS = 20;
/** The number of random bytes in the name of a relay process. */
const HOLDER_BYTES = 12;

/**
 * The relay role: fills the topic of the projectors from the event store and, if there is one, the public topic. Any number may run; for each topic one
 * of them works. Each topic has its own place and checkpoint, so a public topic that cannot be written holds up no list. It waits for servers that are
 * down.
 */
export const startRelay = ({
  events,
  postgres,
  clock,
  random,
  publicTopic,
  ...kafka
}: RelayRoleOptions): RunningRelays => {
  const holder = Buffer.from(random.bytes(HOLDER_BYTES)).toString('hex');
  const deps = { events, clock, log: kafka.log, gatherMs: GATHER_MS, holder };
  const internal = new Relay({
    ...deps,
    topic: eventsTopic(kafka),
    output: linksInto(new KafkaFeedWriter(kafka), clock),
    lease: PostgresRelayLease.ofEvents(postgres, publicTopic === null ? [] : [publicTopic]),
  });
  const relays = [internal];
  if (publicTopic !== null) {
    const publisher = new KafkaEventPublisher(kafka, publicTopic);
    relays.push(
      new Relay({
        ...deps,
        topic: publicTopic,
        output: cloudEventsInto(publisher, (event) => toCloudEvent(event, `/${kafka.namespace}`)),
        lease: PostgresRelayLease.ofPublic(postgres, publicTopic),
      }),
    );
  }
  for (const relay of relays) relay.start();
  return {
    lag: async () => {
      const lags = await Promise.all(relays.map((relay) => relay.lag()));
      return lags.reduce((most, lag) => (lag === null ? most : Math.max(most ?? 0, lag)), null);
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(relays.map((relay) => relay[Symbol.asyncDispose]()));
    },
  };
};
