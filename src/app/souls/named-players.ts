import type { JsonObject } from '../../domain/shared/json.js';
import { Rejection } from '../../domain/shared/rejection.js';
import { createPlayerIndex, type Player, type PlayerIndex } from '../../domain/soul/player-index.js';
import type { TurnPlayers } from '../../domain/soul/said-of-players.js';
import type { EventStore } from '../../ports/event-store.js';
import { pagesOf } from '../streams/stream-pages.js';

/** How many of a mind's events are looked at for players. */
export const MAX_EVENTS_READ = 200_000;

/** The players that bodies named to a mind, and whom each of its turns named. */
export type NamedPlayers = { readonly index: PlayerIndex; readonly turns: TurnPlayers };

const noteEvent = (index: PlayerIndex, turns: Map<string, readonly Player[]>, data: JsonObject): void => {
  const named = index.note(data);
  const { turnId } = data;
  if (typeof turnId !== 'string') return;
  const before = turns.get(turnId) ?? [];
  turns.set(turnId, named.length === 0 ? before : [...new Set([...before, ...named])]);
};

/**
 * Whom the events of a mind name, up to a revision (contract 8.10).
 * @throws Rejection SOUL_TOO_LARGE for more events or players than are looked at; the reason of the signal; what the event store throws
 */
export const namedPlayers = async (
  events: Pick<EventStore, 'read'>,
  stream: string,
  revision: number,
  signal?: AbortSignal,
): Promise<NamedPlayers> => {
  if (revision >= MAX_EVENTS_READ)
    throw new Rejection('SOUL_TOO_LARGE', { details: { events: revision + 1, eventsLimit: MAX_EVENTS_READ } });
  const index = createPlayerIndex();
  const turns = new Map<string, readonly Player[]>();
  for await (const page of pagesOf(events, stream, { direction: 'forwards', from: 0, to: revision })) {
    signal?.throwIfAborted();
    for (const { data } of page.events) noteEvent(index, turns, data);
  }
  return { index, turns };
};
