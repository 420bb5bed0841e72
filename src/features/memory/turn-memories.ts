import { npcEvents } from '../npcs/domain/events.js';
import { storedMemory, type StoredMemory } from '../npcs/domain/stored-memories.js';
import type { EventStore } from '../../ports/event-store.js';
import { FIRST_EVENT_SEARCH } from '../../kernel/streams/first-event-search.js';
import { pagesOf } from '../../kernel/streams/stream-pages.js';

/** How many events are searched for the memories of a turn and their confirmations: one or two seconds of work. */
export const TURN_MEMORY_EVENTS = 20_000;

/** The memories that a turn stored, and the last revision that was read. */
export type TurnMemories = { readonly memories: readonly StoredMemory[]; readonly through: number };

/**
 * Reads the memories of a turn from the events, starting at the revision at which it was opened. A confirmation beyond TURN_MEMORY_EVENTS is not
 * seen; the memory is then confirmed once more, which changes nothing. For a turn that was never opened, FIRST_EVENT_SEARCH events are read.
 * @throws what the event store throws
 */
export const memoriesOfTurn = async (
  events: Pick<EventStore, 'read'>,
  stream: string,
  turnId: string,
  openedAt: number,
): Promise<TurnMemories> => {
  const memories = new Map<string, StoredMemory>();
  let through = -1;
  let [read, isKnown] = [0, false];
  const range = { direction: 'forwards', from: openedAt } as const;
  for await (const page of pagesOf(events, stream, range, TURN_MEMORY_EVENTS)) {
    through = page.lastRevision;
    isKnown ||= page.events.some(({ data }) => data['turnId'] === turnId);
    read += page.events.length;
    if (!isKnown && read >= FIRST_EVENT_SEARCH) break;
    for (const recorded of page.events) {
      const event = npcEvents.decode(recorded);
      if (event.type === 'MemoryStored' && event.data.turnId === turnId) {
        memories.set(event.data.memoryId, storedMemory(event.data, recorded));
      } else if (event.type === 'MemoryConfirmed') {
        const memory = memories.get(event.data.memoryId);
        if (memory !== undefined) memories.set(memory.memoryId, { ...memory, confirmed: true });
      } else if (event.type === 'MemoriesRetracted') {
        for (const memoryId of event.data.memoryIds) {
          const memory = memories.get(memoryId);
          if (memory !== undefined) memories.set(memoryId, { ...memory, retracted: true });
        }
      }
    }
  }
  return { memories: [...memories.values()], through };
};
