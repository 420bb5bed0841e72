import { type MemoryDraft, npcEvents } from '../npcs/domain/events.js';
import { evolveSummary, initialSummary, type MindSummary } from '../npcs/domain/state.js';
import { cutText } from '../../kernel/base/text.js';
import type { PlayedTurn } from './domain/events.js';

/** How many memories a mind of a session keeps, the newest ones, and how much of each, in UTF-16 units: all of them are in each checkpoint. */
export const GHOST_MEMORIES = 100;
export const NPC_MEMORIES = 10;
const MEMORY_CHARS = 400;

/** A mind that exists only in a session, folded by the same functions as any other; plain JSON. */
export type SessionMind = MindSummary & { readonly memories: readonly MemoryDraft[] };

/** A mind before its first turn. */
export const beginSessionMind = (persona: string): SessionMind => ({ ...initialSummary, persona, memories: [] });

/**
 * The mind after a turn.
 * @param most how many memories it keeps
 */
export const afterTurn = (mind: SessionMind, { events }: PlayedTurn, most: number): SessionMind => {
  let after = mind;
  for (const recorded of events) {
    const event = npcEvents.decode({ ...recorded, meta: { schemaVersion: recorded.version } });
    after = evolveSummary(after, {
      ...recorded,
      revision: after.revision + 1,
      meta: { at: '', schemaVersion: recorded.version },
    });
    if (event.type === 'MemoryStored') {
      const { text, type, importance } = event.data;
      const memory = { text: cutText(text, MEMORY_CHARS), type, importance };
      after = { ...after, memories: [...after.memories, memory].slice(-most) };
    }
  }
  return after;
};
