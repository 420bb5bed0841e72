import { isChanged } from './event-checks.js';
import { GENESIS_HASH } from './hash-chain.js';
import type { Seals } from '../crypto/seals.js';
import type { RecordedEvent } from '../../ports/event-store.js';

/** How far a stream was followed from its first event. `isSealed`: an event of it has a seal, so none after it may lack one. */
export type SealedEnd = { readonly revision: number; readonly hash: string; readonly isSealed: boolean };

/** Before the first event. */
export const nothingFollowed: SealedEnd = { revision: -1, hash: GENESIS_HASH, isSealed: false };

/**
 * The end after one more event; null if the event is not what a server with this secret recorded at this place.
 * @param isBornSealed whether the store has had seals since its beginning; called only if the event is the next one
 */
export const followSealed = async (
  seals: Seals,
  end: SealedEnd,
  event: RecordedEvent,
  isBornSealed: () => boolean,
): Promise<SealedEnd | null> => {
  const { revision, meta } = event;
  const follows = revision === end.revision + 1 && meta.prevHash === end.hash;
  if (!follows || (await isChanged(seals, event, !end.isSealed && !isBornSealed()))) return null;
  return { revision, hash: meta.hash, isSealed: end.isSealed || meta.mac !== undefined };
};
