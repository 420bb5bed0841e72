import type { KafkaSettings } from '../adapters/kafka/client.js';
import { KafkaFeed } from '../adapters/kafka/consumer.js';
import { FeedProjector } from '../kernel/read-models/feed-projector.js';
import type { Clock } from '../ports/clock.js';
import type { EventStore } from '../ports/event-store.js';
import type { ReadModelWriter } from '../ports/read-model-writer.js';
import type { Projection } from '../ports/read-models.js';

export type ProjectorRoleOptions = KafkaSettings & {
  readonly events: EventStore;
  readonly writer: ReadModelWriter;
  readonly clock: Clock;
  readonly projections: readonly Projection[];
};

/** The projector role: keeps the read models current from the topic. Any number may run; they share its partitions. It waits for servers that are down. */
export const startProjector = ({
  events,
  writer,
  clock,
  projections,
  ...kafka
}: ProjectorRoleOptions): FeedProjector => {
  const deps = { events, writer, clock, log: kafka.log, feed: new KafkaFeed(kafka) };
  const projector = new FeedProjector(deps, projections);
  projector.start();
  return projector;
};
