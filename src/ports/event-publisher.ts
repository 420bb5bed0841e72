import type { JsonObject } from '../kernel/base/json.js';

/** Why an event is published without its data: no broker would take it, or this version of the server does not know the type or its version. */
export type DataOmitted = 'too-large' | 'unknown-type';

/**
 * A mind's event as the public topic carries it: CloudEvents 1.0 in the structured JSON mode. The members after `dataschema` are extension attributes,
 * whose names have only lower-case letters and digits.
 */
export type CloudEvent = {
  readonly specversion: '1.0';
  /** The event's own id: a repeat has the same. */
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly subject: string;
  readonly time: string;
  /** The `$id` of the schema of `data` (docs/reference/events). */
  readonly dataschema: string;
  readonly tenant: string;
  readonly npcid: string;
  readonly revision: number;
  /** The event's hash, and that of the event before it (docs/reference/formats/hash-chain.md). */
  readonly hash: string;
  readonly prevhash: string;
  readonly dataomitted?: DataOmitted;
  readonly datacontenttype?: 'application/json';
  readonly data?: JsonObject;
};

/** The key of a mind's messages: its tenant and its id, of which everything but `A-Z a-z 0-9 - _ . ! ~ * ' ( )` is percent-encoded. */
export const messageKey = ({ tenant, npcid }: Pick<CloudEvent, 'tenant' | 'npcid'>): string =>
  `${tenant}/${encodeURIComponent(npcid)}`;

/** The envelope alone, which says why. */
export const withoutData = (event: CloudEvent, dataomitted: DataOmitted): CloudEvent => {
  const { data: _, datacontenttype: __, ...envelope } = event;
  return { ...envelope, dataomitted };
};

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
