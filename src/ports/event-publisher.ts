import type { CloudEvent } from '../domain/npc/cloud-event.js';

/** One attempt at publishing. */
export type PublisherSession = AsyncDisposable & {
  /**
   * Resolves once the brokers have stored all of these. Those of a mind stay in this order. An event that is too large for the brokers is published
   * without its data, and says so. After a failure some of them may be stored, and the session is over.
   */
  write(events: readonly CloudEvent[]): Promise<void>;
};

/** The log that programs of others read. */
export interface EventPublisher {
  /**
   * Makes the log if it is missing, and begins to publish. From the first write on, earlier sessions can publish nothing more, in whatever process they
   * are: nothing of theirs comes between. Failures: after any throw nothing is open.
   */
  open(): Promise<PublisherSession>;
}
