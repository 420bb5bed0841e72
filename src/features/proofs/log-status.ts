import { isPlace } from './domain/leaf.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { logStream } from '../../kernel/base/stream-names.js';
import { type CheckpointAt, logEventOf, type LogReads, newestCheckpoint } from './log.js';

/** The newest checkpoint of a log, and how publishing it ended. */
export type LogStatus = Pick<CheckpointAt, 'origin' | 'size' | 'root' | 'at'> & {
  /** `upTo`: the largest size that was published; `failed`: why the others were not, null if all were. Null if checkpoints are not published. */
  readonly handedOn: { readonly upTo: number; readonly failed: string | null } | null;
};

/** What no one can read is not a log. Its audit names what is wrong with it. */
const readable = async <T>(read: Promise<T>): Promise<T | null> => {
  try {
    return await read;
  } catch (error) {
    // An event of a newer server is told from a changed one by whoever reads the whole log.
    if (error instanceof Rejection && error.code !== 'EVENT_VERSION_UNKNOWN') throw error;
    return null;
  }
};

/**
 * The state of a tenant's log, from its stream alone: a snapshot may show a log that somebody has deleted. Null if it has no checkpoint, or none that
 * can be read. Propagates refusals of the event store.
 */
export const logStatus = async (events: LogReads, tenant: string): Promise<LogStatus | null> => {
  const checkpoint = await readable(newestCheckpoint(events, tenant));
  if (checkpoint === null || !isPlace(checkpoint.size)) return null;
  const { origin, size, root, at, revision } = checkpoint;
  const page = await events.read(logStream(tenant), { direction: 'forwards', from: revision + 1, limit: 1 });
  const [after] = page.events;
  const event = after === undefined ? null : await readable(Promise.resolve(after).then(logEventOf));
  const handedOn = event?.type === 'CheckpointsHandedOn' ? { upTo: event.data.upTo, failed: event.data.failed } : null;
  return { origin, size, root, at, handedOn };
};
