import { npcEvents } from '../npcs/domain/events.js';
import type { JsonObject } from '../../kernel/base/json.js';
import type { EventStore } from '../../ports/event-store.js';
import { eventAt } from '../../kernel/streams/stream-pages.js';

/** A card as an event holds it: exactly as it was sent, and the digest of the file that it came in, if the file was kept. */
export type RecordedCard = { readonly content: JsonObject; readonly file?: string };

/**
 * The character card in an event of a mind.
 * @param revision of that event, from the mind's state
 * @throws Error if the event holds none; what the event store throws
 */
export const cardAt = async (events: EventStore, stream: string, revision: number): Promise<RecordedCard> => {
  const recorded = await eventAt(events, stream, revision);
  const event = recorded && npcEvents.decode(recorded);
  const brings = event?.type === 'NpcRegistered' || event?.type === 'NpcUpdated' ? event.data.card : undefined;
  if (brings === undefined) throw new Error(`The event ${String(revision)} of ${stream} holds no card.`);
  return brings;
};
