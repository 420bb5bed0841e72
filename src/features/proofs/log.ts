import { logEvents, type LeafBatch, type LogEvent, type SignedCheckpoint } from './domain/events.js';
import type { UnknownEvent } from '../../kernel/base/decoder.js';
import { logStream } from '../../kernel/base/stream-names.js';
import type { EventStore, RecordedEvent } from '../../ports/event-store.js';
import { firstRevision } from './search-stream.js';
import { eventAt } from '../../kernel/streams/stream-pages.js';

/** The dependencies of reading a log. */
export type LogReads = Pick<EventStore, 'read'>;

/** A checkpoint, with its revision in the log. */
export type CheckpointAt = SignedCheckpoint & { readonly revision: number };

type KnownEvent = Exclude<LogEvent, UnknownEvent>;

/** An event of a log. @throws Error for an event that does not belong in a log */
export const logEventOf = (recorded: RecordedEvent): KnownEvent => {
  const event = logEvents.decode(recorded);
  if (event.type === 'Unknown')
    throw new Error(`${recorded.stream} contains ${recorded.type}, which is not an event of a log`);
  return event;
};

const requireEvent = async (events: LogReads, stream: string, revision: number): Promise<RecordedEvent> => {
  const event = await eventAt(events, stream, revision);
  if (event?.revision !== revision) throw new Error(`${stream} lacks its revision ${String(revision)}`);
  return event;
};

/** A batch of leaves of a log. */
export const batchAt = async (events: LogReads, stream: string, revision: number): Promise<LeafBatch> => {
  const event = logEventOf(await requireEvent(events, stream, revision));
  if (event.type !== 'LeavesLogged') throw new Error(`${stream} has no leaves at its revision ${String(revision)}`);
  return event.data;
};

/** The checkpoint at a revision of a log. */
export const checkpointAt = async (events: LogReads, tenant: string, revision: number): Promise<CheckpointAt> => {
  const event = logEventOf(await requireEvent(events, logStream(tenant), revision));
  if (event.type !== 'CheckpointSigned')
    throw new Error(`the log has no checkpoint at its revision ${String(revision)}`);
  return { ...event.data, revision };
};

/** The newest checkpoint at an event or before it; null if there is none. */
const newestAt = async (events: LogReads, tenant: string, recorded: RecordedEvent): Promise<CheckpointAt | null> => {
  const event = logEventOf(recorded);
  if (event.type === 'CheckpointSigned') return { ...event.data, revision: recorded.revision };
  return event.data.checkpoint === null ? null : checkpointAt(events, tenant, event.data.checkpoint);
};

const lastEvent = async (events: LogReads, tenant: string): Promise<RecordedEvent | null> =>
  (await events.read(logStream(tenant), { direction: 'backwards', limit: 1 })).events[0] ?? null;

/** The newest checkpoint of a tenant; null before the first. Propagates errors from the event store, like all of these functions. */
export const newestCheckpoint = async (events: LogReads, tenant: string): Promise<CheckpointAt | null> => {
  const last = await lastEvent(events, tenant);
  return last && newestAt(events, tenant, last);
};

/** The checkpoint before another; null for the first. */
export const checkpointBefore = async (
  events: LogReads,
  tenant: string,
  { checkpoint }: CheckpointAt,
): Promise<CheckpointAt | null> => (checkpoint === null ? null : checkpointAt(events, tenant, checkpoint));

/** The newest checkpoint among the events of a log that satisfy a predicate, which must hold up to some event, and for none after it. */
const newestWhile = async (
  events: LogReads,
  tenant: string,
  holds: (event: KnownEvent) => boolean,
): Promise<CheckpointAt | null> => {
  const last = await lastEvent(events, tenant);
  if (last === null) return null;
  const stream = logStream(tenant);
  const beyond = await firstRevision(events, stream, last.revision, (event) => !holds(logEventOf(event)));
  return beyond === 0 ? null : newestAt(events, tenant, await requireEvent(events, stream, beyond - 1));
};

/** The checkpoint of this size; null if there is none. */
export const checkpointOfSize = async (
  events: LogReads,
  tenant: string,
  size: number,
): Promise<CheckpointAt | null> => {
  const found = await newestWhile(events, tenant, ({ data }) => data.size <= size);
  return found?.size === size ? found : null;
};

/** The newest checkpoint whose round ended before a global position; null if there is none. */
export const checkpointBeforePosition = (
  events: LogReads,
  tenant: string,
  position: number,
): Promise<CheckpointAt | null> => newestWhile(events, tenant, ({ data }) => data.through < position);

/** The first event of a log that holds the heads up to a global position; null if none does yet. */
export const logEventThrough = async (
  events: LogReads,
  tenant: string,
  position: number,
): Promise<KnownEvent | null> => {
  const last = await lastEvent(events, tenant);
  if (last === null || logEventOf(last).data.through < position) return null;
  const stream = logStream(tenant);
  const revision = await firstRevision(
    events,
    stream,
    last.revision,
    (event) => logEventOf(event).data.through >= position,
  );
  return logEventOf(await requireEvent(events, stream, revision));
};
