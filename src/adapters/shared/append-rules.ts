import { APPEND_BYTES, APPEND_EVENTS, countedBytes, EVENT_BYTES } from '../../kernel/streams/append-size.js';
import { Rejection } from '../../kernel/base/rejection.js';
import type { EventToAppend, ExpectedRevision, ReadRange } from '../../ports/event-store.js';

/** An event as it is stored: data and metadata as JSON text, made once. */
export type SerialisedEvent = Pick<EventToAppend, 'id' | 'type'> & {
  readonly data: string;
  readonly meta: string;
};

/**
 * Serialises the events of an append.
 * @throws RangeError for an empty append; Rejection EVENTS_TOO_LARGE over APPEND_EVENTS, over APPEND_BYTES as `countedBytes` counts, or over
 *   EVENT_BYTES of data in one of them
 */
export const serialise = (events: readonly EventToAppend[]): readonly SerialisedEvent[] => {
  if (events.length === 0) throw new RangeError('An append holds at least one event.');
  if (events.length > APPEND_EVENTS)
    throw new Rejection('EVENTS_TOO_LARGE', {
      message: `This request would record more than ${APPEND_EVENTS} events. Send less data at a time.`,
    });
  let bytes = 0;
  return events.map(({ id, type, data, meta }) => {
    const stored = { id, type, data: JSON.stringify(data), meta: JSON.stringify(meta) };
    bytes += countedBytes(stored);
    if (bytes > APPEND_BYTES || Buffer.byteLength(stored.data) > EVENT_BYTES) throw new Rejection('EVENTS_TOO_LARGE');
    return stored;
  });
};

/** The state of a stream that decides an append. `last` is its last revision, -1 if it does not exist. */
export type StreamView = {
  readonly last: number;
  idAt(revision: number): string | undefined;
};

/** Write it after the last event; or it already exists, from a revision on; or it contradicts the existing events. */
export type AppendPlace = 'write' | 'conflict' | { readonly repeatedFrom: number };

/** Decides one append: a repeat is recognised by its ids at the expected revisions. */
export const placeAppend = (stream: StreamView, expected: ExpectedRevision, ids: readonly string[]): AppendPlace => {
  const from = expected === 'no_stream' ? 0 : expected + 1;
  if (stream.last === from - 1) return 'write';
  const stands = from + ids.length - 1 <= stream.last && ids.every((id, index) => stream.idAt(from + index) === id);
  return stands ? { repeatedFrom: from } : 'conflict';
};

/** The maximum number of events that one read returns. */
export const READ_EVENTS = 4096;

/**
 * The revisions that a read covers, both included; none if `lowest` is above `highest`.
 * @throws RangeError for a limit outside 1..4096
 */
export const rangeOf = (
  { direction, from, to, limit }: ReadRange,
  lastRevision: number,
): { readonly lowest: number; readonly highest: number } => {
  if (!Number.isInteger(limit) || limit < 1 || limit > READ_EVENTS)
    throw new RangeError(`The limit of a read must be 1 to ${READ_EVENTS}.`);
  const [low, high] = direction === 'forwards' ? [from, to] : [to, from];
  return { lowest: Math.max(low ?? 0, 0), highest: Math.max(-1, Math.min(high ?? lastRevision, lastRevision)) };
};
