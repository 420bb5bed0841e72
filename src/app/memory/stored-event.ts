import { parseProcessId } from '../../domain/shared/process-id.js';
import type { EventStore } from '../../ports/event-store.js';
import type { PlacedEvent } from '../streams/fold.js';
import { pagesOf } from '../streams/stream-pages.js';
import { TURN_MEMORY_EVENTS } from './turn-memories.js';

/** The revision that a memory's id begins with: its own command's or its turn's. It was stored after it. */
const revisionIn = (memoryId: string): number =>
  (parseProcessId(memoryId) ?? parseProcessId(memoryId.replace(/-\d+$/, '')))?.revision ?? 0;

/**
 * The event that stored a memory.
 * @param revision where it is, if that is known
 * @returns null when it is not among the TURN_MEMORY_EVENTS events after the revision in its id; raises what the event store raises
 */
export const storedEvent = async (
  events: Pick<EventStore, 'read'>,
  stream: string,
  memoryId: string,
  revision: number | undefined,
): Promise<PlacedEvent | null> => {
  const from = revision ?? revisionIn(memoryId);
  const most = revision === undefined ? TURN_MEMORY_EVENTS : 1;
  for await (const page of pagesOf(events, stream, { direction: 'forwards', from }, most)) {
    const found = page.events.find(
      ({ type, data }) => (type === 'MemoryStored' || type === 'MemoryArrived') && data['memoryId'] === memoryId,
    );
    if (found !== undefined) return found;
  }
  return null;
};
