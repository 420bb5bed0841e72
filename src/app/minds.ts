import { initialMind, type MindState } from '../domain/npc/state.js';
import { npcStream } from '../domain/shared/stream-names.js';
import { Rejection } from '../domain/shared/rejection.js';
import type { EventStore } from '../ports/event-store.js';
import type { Lanes } from './lanes.js';
import { mindFold } from './mind.js';

/** How many events one page of folding a mind reads. */
const FOLD_PAGE = 512;

/** A mind as every acknowledged write left it (contract 1.8); null when the server has never seen it. */
export const readMind = async (lanes: Lanes, tenant: string, npcId: string): Promise<MindState | null> => {
  const lane = await lanes.open(npcStream(tenant, npcId), mindFold);
  const { state } = await lane.latest();
  return state.revision < 0 ? null : state;
};

/** @throws Rejection NPC_NOT_FOUND */
export const requireMind = async (lanes: Lanes, tenant: string, npcId: string): Promise<MindState> => {
  const mind = await readMind(lanes, tenant, npcId);
  if (mind === null) throw new Rejection('NPC_NOT_FOUND', { details: { npcId } });
  return mind;
};

/** A moment in a mind's history: a revision, or an instant in milliseconds since the epoch; both inclusive. */
export type Moment = { readonly revision: number } | { readonly timeMs: number };

/**
 * A mind as it was after its last event not beyond `moment`: beyond the last event, as it is now (contract 10.1).
 * @returns null when the mind had no event yet at that moment, or never
 */
export const mindAsOf = async (
  events: EventStore,
  tenant: string,
  npcId: string,
  moment: Moment,
): Promise<MindState | null> => {
  const stream = npcStream(tenant, npcId);
  const beyond = (revision: number, at: string): boolean =>
    'revision' in moment ? revision > moment.revision : Date.parse(at) > moment.timeMs;
  let mind = initialMind;
  for (;;) {
    const page = await events.read(stream, { direction: 'forwards', from: mind.revision + 1, limit: FOLD_PAGE });
    for (const event of page.events) {
      if (beyond(event.revision, event.meta.at)) return mind.revision < 0 ? null : mind;
      mind = mindFold.evolve(mind, event);
    }
    if (page.events.length < FOLD_PAGE) return mind.revision < 0 ? null : mind;
  }
};
