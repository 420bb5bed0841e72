import { hasBegun, type MindState } from './domain/state.js';
import { npcStream } from '../../kernel/base/stream-names.js';
import { Rejection } from '../../kernel/base/rejection.js';
import type { EventStore } from '../../ports/event-store.js';
import type { Moment } from '../../ports/snapshots.js';
import type { StreamWriters } from '../../kernel/streams/stream-writers.js';
import { mindFold } from './mind-fold.js';

/**
 * A mind that includes every acknowledged write.
 * @throws Rejection NPC_NOT_FOUND
 */
export const requireMind = async (writers: StreamWriters, tenant: string, npcId: string): Promise<MindState> => {
  const { state } = await writers.current(npcStream(tenant, npcId), mindFold);
  if (!hasBegun(state)) throw new Rejection('NPC_NOT_FOUND', { details: { npcId } });
  return state;
};

/** Events that are the last of their mind's only while its soul still arrives. */
const arriving: readonly string[] = ['SoulArrivalBegun', 'MemoryArrived'];

/**
 * The revision of a mind's last event, -1 when there is no such mind, or its soul still arrives. It reads only that event: the mind need not be folded
 * for this.
 */
export const revisionOf = async (events: EventStore, tenant: string, npcId: string): Promise<number> => {
  const { events: last, lastRevision } = await events.read(npcStream(tenant, npcId), {
    direction: 'backwards',
    limit: 1,
  });
  return arriving.includes(last[0]?.type ?? '') ? -1 : lastRevision;
};

/**
 * As `revisionOf`, for a mind that must exist.
 * @throws Rejection NPC_NOT_FOUND
 */
export const requireRevision = async (events: EventStore, tenant: string, npcId: string): Promise<number> => {
  const revision = await revisionOf(events, tenant, npcId);
  if (revision < 0) throw new Rejection('NPC_NOT_FOUND', { details: { npcId } });
  return revision;
};

/**
 * A mind after its last event up to `moment`; for a moment after the last event, the current mind.
 * @returns null when the mind had no event at that moment, or never had one
 */
export const mindAsOf = async (
  writers: StreamWriters,
  tenant: string,
  npcId: string,
  moment: Moment,
): Promise<MindState | null> => {
  const { state } = await writers.asOf(npcStream(tenant, npcId), mindFold, moment);
  return hasBegun(state) ? state : null;
};
