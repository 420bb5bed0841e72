import { KafkaFeedWriter } from '../adapters/kafka/producer.js';
import type { KafkaSettings } from '../adapters/kafka/client.js';
import type { Postgres } from '../adapters/postgres/open.js';
import { PostgresRelayLease } from '../adapters/postgres/relay-lease.js';
import { Relay } from '../app/read-models/relay.js';
import type { Clock } from '../ports/clock.js';
import type { EventStore } from '../ports/event-store.js';
import type { Random } from '../ports/random.js';

export type RelayRoleOptions = KafkaSettings & {
  readonly events: EventStore;
  readonly postgres: Postgres;
  readonly clock: Clock;
  readonly random: Random;
};

/** How long events are gathered after a write, in milliseconds: what lists wait for longer at most. */
const GATHER_MS = 20;
/** How many random bytes name a process among the relays. */
const HOLDER_BYTES = 12;

/** The relay role: fills the topic from the event store. Any number may run; one of them works. It waits for servers that are down. */
export const startRelay = ({ events, postgres, clock, random, ...kafka }: RelayRoleOptions): Relay => {
  const holder = Buffer.from(random.bytes(HOLDER_BYTES)).toString('hex');
  const feed = new KafkaFeedWriter(kafka);
  const lease = new PostgresRelayLease(postgres);
  const relay = new Relay({ events, feed, lease, clock, log: kafka.log, gatherMs: GATHER_MS, holder });
  relay.start();
  return relay;
};
