import type { JsonObject } from '../kernel/base/json.js';

/** Why an event is published without its data: no broker would accept it, or this version of the server does not support the type or its version. */
export type DataOmitted = 'too-large' | 'unknown-type';

/**
 * A mind's event on the public topic: CloudEvents 1.0 in the structured JSON mode. The members after `dataschema` are extension attributes, whose
 * names have only lower-case letters and digits.
 */
export type CloudEvent = {
  readonly specversion: '1.0';
  /** The event's own id, the same in every repeat. */
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
  /** The event's hash, and the hash of the previous event (docs/reference/formats/hash-chain.md). */
  readonly hash: string;
  readonly prevhash: string;
  readonly dataomitted?: DataOmitted;
  readonly datacontenttype?: 'application/json';
  readonly data?: JsonObject;
};

/** The key of a mind's messages: its tenant and its id, percent-encoded except for `A-Z a-z 0-9 - _ . ! ~ * ' ( )`. */
export const messageKey = ({ tenant, npcid }: Pick<CloudEvent, 'tenant' | 'npcid'>): string =>
  `${tenant}/${encodeURIComponent(npcid)}`;

/** The envelope alone, with the reason. */
export const withoutData = (event: CloudEvent, dataomitted: DataOmitted): CloudEvent => {
  const { data: _, datacontenttype: __, ...envelope } = event;
  return { ...envelope, dataomitted };
};

/** A session of publishing. It ends at the first failure. */
export type PublisherSession = AsyncDisposable & {
  /**
   * Resolves once the brokers have stored all of these. Events of one mind stay in this order. An event that is too large for the brokers is
   * published without its data, with `dataomitted`. After a failure some of them may be stored, and the session is over.
   */
  write(events: readonly CloudEvent[]): Promise<void>;
};

/** The log that external programs read. */
export interface EventPublisher {
  /**
   * Creates the log if it is missing, and begins to publish. After the first write, earlier sessions can publish nothing more, in any process, so
   * that none of their events comes in between. If it throws, nothing is open.
   */
  open(): Promise<PublisherSession>;
}
