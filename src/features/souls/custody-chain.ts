import { npcEvents } from '../npcs/domain/events.js';
import type { Origin } from '../npcs/domain/state.js';
import { npcStream } from '../../kernel/base/stream-names.js';
import type { CustodyLink } from './domain/document.js';
import type { EventStore } from '../../ports/event-store.js';
import { requireMind } from '../npcs/find-mind.js';
import { eventAt } from '../../kernel/streams/stream-pages.js';
import type { StreamWriters } from '../../kernel/streams/stream-writers.js';

/** How a mind came to this server. `chain`: the souls that it descends from, oldest first. */
export type CustodyChain = { readonly copy: boolean; readonly chain: readonly CustodyLink[] };

const beganHere: CustodyChain = { copy: false, chain: [] };

/** The custody chain of a stream's mind, by its origin. @throws what the event store throws; Error if the stream does not hold the origin */
export const chainOf = async (
  events: Pick<EventStore, 'read'>,
  stream: string,
  origin: Origin | null,
): Promise<CustodyChain> => {
  if (origin === null) return beganHere;
  const recorded = await eventAt(events, stream, origin.arrivedAt);
  const event = recorded && npcEvents.decode(recorded);
  if (event?.type !== 'SoulArrived') throw new Error(`the stream ${stream} does not record how its soul arrived`);
  const { copy, chain } = event.data;
  return { copy, chain };
};

/** @throws Rejection NPC_NOT_FOUND, and what the event store throws */
export const custodyOf = async (
  { writers, events }: { readonly writers: StreamWriters; readonly events: Pick<EventStore, 'read'> },
  tenant: string,
  npcId: string,
): Promise<CustodyChain & { readonly revision: number }> => {
  const { origin, revision } = await requireMind(writers, tenant, npcId);
  return { revision, ...(await chainOf(events, npcStream(tenant, npcId), origin)) };
};
