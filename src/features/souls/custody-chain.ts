import { npcEvents } from '../npcs/domain/events.js';
import type { Origin } from '../npcs/domain/state.js';
import { npcStream } from '../../kernel/base/stream-names.js';
import type { CustodyLink } from './domain/document.js';
import type { ArrivedParts } from './domain/since-arrival.js';
import type { EventStore } from '../../ports/event-store.js';
import { requireMind } from '../npcs/find-mind.js';
import { eventAt } from '../../kernel/streams/stream-pages.js';
import type { StreamWriters } from '../../kernel/streams/stream-writers.js';

/** How a mind came to this server. `chain`: the souls that it descends from, oldest first. */
export type CustodyChain = { readonly copy: boolean; readonly chain: readonly CustodyLink[] };

const beganHere: CustodyChain = { copy: false, chain: [] };

/** How the soul of a stream's mind arrived. @throws what the event store throws; Error if the stream does not hold the origin */
const arrivalOf = async (events: Pick<EventStore, 'read'>, stream: string, origin: Origin) => {
  const recorded = await eventAt(events, stream, origin.arrivedAt);
  const event = recorded && npcEvents.decode(recorded);
  if (event?.type !== 'SoulArrived') throw new Error(`the stream ${stream} does not record how its soul arrived`);
  return event.data;
};

/** The custody chain of a stream's mind, by its origin. @throws what the event store throws; Error if the stream does not hold the origin */
export const chainOf = async (
  events: Pick<EventStore, 'read'>,
  stream: string,
  origin: Origin | null,
): Promise<CustodyChain> => {
  if (origin === null) return beganHere;
  const { copy, chain } = await arrivalOf(events, stream, origin);
  return { copy, chain };
};

/** What a mind got from its soul; nothing if it began here. Raises as `chainOf`. */
export const arrivedParts = async (
  events: Pick<EventStore, 'read'>,
  stream: string,
  origin: Origin | null,
): Promise<ArrivedParts> => (origin === null ? {} : arrivalOf(events, stream, origin));

/** In place of the id of a soul in an archive, where it can be read without a key. */
const WITHHELD = 'withheld';

/** A chain that does not say where its souls can be read. They may hold what the next soul leaves out. */
export const withoutPlaces = (chain: readonly CustodyLink[]): readonly CustodyLink[] =>
  chain.map((link) => ({ ...link, txId: WITHHELD }));

/** @throws Rejection NPC_NOT_FOUND, and what the event store throws */
export const custodyOf = async (
  { writers, events }: { readonly writers: StreamWriters; readonly events: Pick<EventStore, 'read'> },
  tenant: string,
  npcId: string,
): Promise<CustodyChain & { readonly revision: number }> => {
  const { origin, revision } = await requireMind(writers, tenant, npcId);
  return { revision, ...(await chainOf(events, npcStream(tenant, npcId), origin)) };
};
