import { hasBegun, type MindState } from './domain/state.js';
import { npcStream } from '../../kernel/base/stream-names.js';
import { Rejection } from '../../kernel/base/rejection.js';
import type { EventStore } from '../../ports/event-store.js';
import type { Moment } from '../../ports/snapshots.js';
import type { StreamWriters } from '../../kernel/streams/stream-writers.js';
import { mindFold } from './mind-fold.js';

/**
 * A mind, including every acknowledged write.
 * @throws Rejection NPC_NOT_FOUND
 */
export const requireMind = async (writers: StreamWriters, tenant: string, npcId: string): Promise<MindState> => {
  const { state } = await writers.current(npcStream(tenant, npcId), mindFold);
  if (!hasBegun(state)) throw new Rejection('NPC_NOT_FOUND', { details: { npcId } });
  return state;
};

/** Types of events that are a mind's last only while its soul is still arriving. */
const arriving: readonly string[] = ['SoulArrivalBegun', 'MemoryArrived'];

/**
 * The revision of a mind's last event, -1 if the mind does not exist or its soul is still arriving. It reads only that event; the mind is not folded.
 */
export const revisionOf = async (events: EventStore, tenant: string, npcId: string): Promise<number> => {
  const { events: last, lastRevision } = await events.read(npcStream(tenant, npcId), {
    direction: 'backwards',
    limit: 1,
  });
  return arriving.includes(last[0]?.type ?? '') ? -1 : lastRevision;
};

/**
 * Like `revisionOf`, for a mind that must exist.
 * @throws Rejection NPC_NOT_FOUND
 */
export const requireRevision = async (events: EventStore, tenant: string, npcId: string): Promise<number> => {
  const revision = await revisionOf(events, tenant, npcId);
  if (revision < 0) throw new Rejection('NPC_NOT_FOUND', { details: { npcId } });
  return revision;
};

/**
 * A mind after its last event up to `moment`; for a moment after the last event, the current mind.
 * @returns null if the mind had no event at that moment, or does not exist
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
