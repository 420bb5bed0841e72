import type { SoulArchive } from '../../ports/soul-archive.js';
import { keptPayload } from './kept-payload.js';
import type { SoulGateways } from './soul-gateways.js';

/** A payload, and whether the built-in archive has it. */
export type FoundPayload = { readonly bytes: Uint8Array; readonly isKept: boolean };

/**
 * The payload under an id, from the built-in archive or otherwise from a gateway; null if none has it. Propagates errors from the archive, and as
 * SoulGateways.find.
 * @param tenant the caller's tenant
 */
export const findPayload = async (
  deps: { readonly archive: Pick<SoulArchive, 'digestOfCid' | 'readPublic'>; readonly gateways: SoulGateways },
  id: string,
  tenant: string,
): Promise<FoundPayload | null> => {
  const kept = await keptPayload(deps.archive, id);
  if (kept !== null) return { bytes: kept, isKept: true };
  const found = await deps.gateways.find(id, tenant);
  return found && { bytes: found, isKept: false };
};
