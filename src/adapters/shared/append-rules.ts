import { Rejection } from '../../domain/shared/rejection.js';
import type { EventToAppend, ExpectedRevision, ReadRange } from '../../ports/event-store.js';

/** Bounds of one append (the port names them). */
export const APPEND_BYTES = 1_000_000;
export const EVENT_BYTES = 900_000;
export const APPEND_EVENTS = 500;

/** An event as it is stored: data and metadata as JSON text, made once. */
export type StoredEvent = Pick<EventToAppend, 'id' | 'type'> & {
  readonly data: string;
  readonly meta: string;
};

/**
 * Serialises what is appended.
 * @throws RangeError for an empty append; Rejection EVENTS_TOO_LARGE over 500 events, 1,000,000 bytes of data, or 900,000 in one of them.
 */
export const serialise = (events: readonly EventToAppend[]): readonly StoredEvent[] => {
  if (events.length === 0) throw new RangeError('An append holds at least one event.');
  if (events.length > APPEND_EVENTS)
    throw new Rejection('EVENTS_TOO_LARGE', {
      message: `This request would record more than ${APPEND_EVENTS} events; send less at once.`,
    });
  let bytes = 0;
  return events.map(({ id, type, data, meta }) => {
    const text = JSON.stringify(data);
    const own = Buffer.byteLength(text);
    bytes += own;
    if (own > EVENT_BYTES || bytes > APPEND_BYTES) throw new Rejection('EVENTS_TOO_LARGE');
    return { id, type, data: text, meta: JSON.stringify(meta) };
  });
};

/** What of a stream decides an append. `last` is its last revision, -1 when it does not exist. */
export type StreamView = {
  readonly last: number;
  idAt(revision: number): string | undefined;
};

/** Write it after the last event; or it is already there, from a revision on; or it contradicts what is there. */
export type AppendPlace = 'write' | 'conflict' | { readonly repeatedFrom: number };

/** Decides one append: a repeat is known by its ids at the expected place. */
export const placeAppend = (stream: StreamView, expected: ExpectedRevision, ids: readonly string[]): AppendPlace => {
  const from = expected === 'no_stream' ? 0 : expected + 1;
  if (stream.last === from - 1) return 'write';
  const stands = from + ids.length - 1 <= stream.last && ids.every((id, index) => stream.idAt(from + index) === id);
  return stands ? { repeatedFrom: from } : 'conflict';
};

/** The most events one read returns. */
export const READ_EVENTS = 4096;

/**
 * The revisions that a read covers, both included; nothing when `lowest` is above `highest`.
 * @throws RangeError for a limit outside 1..4096.
 */
export const rangeOf = (
  { direction, from, to, limit }: ReadRange,
  lastRevision: number,
): { readonly lowest: number; readonly highest: number } => {
  if (!Number.isInteger(limit) || limit < 1 || limit > READ_EVENTS)
    throw new RangeError(`A read takes a limit from 1 to ${READ_EVENTS}.`);
  const [low, high] = direction === 'forwards' ? [from, to] : [to, from];
  return { lowest: Math.max(low ?? 0, 0), highest: Math.max(-1, Math.min(high ?? lastRevision, lastRevision)) };
};
