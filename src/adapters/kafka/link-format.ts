import type { FeedLink } from '../../ports/event-feed.js';
import type { RecordedEvent } from '../../ports/event-store.js';

/**
 * A message's value is JSON, described in docs/adr/0009-relay.md. This is the maximum size of one that is sent, in bytes. With the overhead of the
 * protocol it stays below the 1 MiB that brokers accept by default.
 */
export const MAX_MESSAGE_BYTES = 1_000_000;
const VERSION = 1;

type Message = { readonly v: number } & FeedLink;

/** The link as bytes. An event that is too large is left out, and its link states nothing: readers read it from the event store. */
export const encodeLink = (link: FeedLink): Buffer => {
  const { partitions, position } = link;
  const value = Buffer.from(JSON.stringify({ v: VERSION, ...link } satisfies Message));
  if (value.length <= MAX_MESSAGE_BYTES) return value;
  return Buffer.from(
    JSON.stringify({ v: VERSION, partitions, follows: position, position, event: null } satisfies Message),
  );
};

/** The link of a message; null for a foreign message: the next link then does not follow, which shows the gap. */
export const decodeLink = (value: Buffer | null): FeedLink | null => {
  if (value === null) return null;
  try {
    const message = JSON.parse(value.toString()) as Partial<Message> | null;
    if (message?.v !== VERSION) return null;
    const { partitions, follows, position, event } = message;
    if (!isCount(partitions) || partitions === 0 || !isCount(follows) || !isCount(position)) return null;
    return event === null || isEvent(event) ? { partitions, follows, position, event } : null;
  } catch {
    return null;
  }
};

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;

/** Whether it has the form of an event; the projections check its content. */
const isEvent = (value: Partial<RecordedEvent> | undefined): value is RecordedEvent =>
  typeof value === 'object' &&
  typeof value.stream === 'string' &&
  typeof value.type === 'string' &&
  typeof value.data === 'object' &&
  typeof value.meta === 'object' &&
  isCount(value.revision) &&
  isCount(value.position);
