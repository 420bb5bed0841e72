import { objectOrEmpty } from '../base/json.js';
import type { EventStore, RecordedEvent } from '../../ports/event-store.js';

/** A filter for the events of a stream; an absent member matches all of them. */
export type HistoryFilter = {
  readonly types?: ReadonlySet<string>;
  readonly turns?: ReadonlySet<string>;
  /** Keys that acted, or `system`. */
  readonly actors?: ReadonlySet<string>;
};

/** A range of times in milliseconds since 1970, both included. */
export type HistoryTimes = { readonly sinceMs?: number; readonly untilMs?: number };

/** Whether the filter leaves anything out. */
export const isFiltered = ({ types, turns, actors }: HistoryFilter): boolean =>
  types !== undefined || turns !== undefined || actors !== undefined;

/** Whether an event passes a filter. Any stored JSON is judged. */
export const passes = ({ types, turns, actors }: HistoryFilter, { type, data, meta }: RecordedEvent): boolean => {
  const { actor } = objectOrEmpty(meta);
  const { turnId } = objectOrEmpty(data);
  return (
    (types === undefined || types.has(type)) &&
    (actors === undefined || (typeof actor === 'string' && actors.has(actor))) &&
    (turns === undefined || (typeof turnId === 'string' && turns.has(turnId)))
  );
};

/**
 * The first revision of a stream whose time is not before a moment; one beyond the last if there is none. Times never decrease within a stream, so
 * about twenty events are read, however long the stream is.
 * @param timeMs milliseconds since 1970
 * @throws what the event store throws
 */
export const revisionAt = async (events: Pick<EventStore, 'read'>, stream: string, timeMs: number): Promise<number> => {
  const end = await events.read(stream, { direction: 'backwards', limit: 1 });
  let [low, high] = [0, end.lastRevision + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [event] = (await events.read(stream, { direction: 'forwards', from: middle, limit: 1 })).events;
    if (event === undefined || timeOf(event) >= timeMs) high = middle;
    else low = middle + 1;
  }
  return low;
};

const timeOf = ({ meta }: RecordedEvent): number => {
  const { at } = objectOrEmpty(meta);
  return typeof at === 'string' ? Date.parse(at) : NaN;
};

/** The revisions of a stream within these times, both included; `first` is beyond `last` if there are none. @throws what the event store throws */
export const revisionsWithin = async (
  events: Pick<EventStore, 'read'>,
  stream: string,
  { sinceMs, untilMs }: HistoryTimes,
): Promise<{ readonly first: number; readonly last: number }> => ({
  first: sinceMs === undefined ? 0 : await revisionAt(events, stream, sinceMs),
  last: untilMs === undefined ? Infinity : (await revisionAt(events, stream, untilMs + 1)) - 1,
});
