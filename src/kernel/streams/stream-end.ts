import type { EventStore } from '../../ports/event-store.js';

/**
 * The last event of a stream, and its global position; -1 and 0 if there is none. For what a process wrote without a request: its outcome carries no
 * position. @throws what the event store throws
 */
export const streamEnd = async (
  events: Pick<EventStore, 'read'>,
  stream: string,
): Promise<{ readonly revision: number; readonly position: number }> => {
  const { events: found, lastRevision } = await events.read(stream, { direction: 'backwards', limit: 1 });
  return { revision: lastRevision, position: found[0]?.position ?? 0 };
};
