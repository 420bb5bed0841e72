import { isContentDigest } from '../../domain/shared/content-digest.js';
import { Rejection } from '../../domain/shared/rejection.js';
import { archiveUnavailable } from '../../domain/soul/archive-unavailable.js';
import { ipfsCid, isIpfsCid } from '../../domain/soul/ipfs-cid.js';
import type { Clock } from '../../ports/clock.js';
import type { Log } from '../../ports/log.js';
import type { PayloadSource } from '../../ports/payload-source.js';
import { inSlices } from '../pacing/in-slices.js';
import { placesFor } from '../pacing/places.js';
import { withTimeLimit } from '../pacing/time-limit.js';

/** How long one search may take, in milliseconds: less than clients wait (contract 2.5). */
const SEARCH_MS = 10_000;
/** How long each of the archives that are asked may take in any case, in milliseconds. */
const LEAST_MS = 1_000;
/** How many searches one process makes at once: each may hold a payload. */
const SEARCHES = 8;

/** Where payloads may be that the built-in archive does not have, by the form of their ids. `others` may have any. */
export type GatewaySources = {
  readonly ipfs: readonly PayloadSource[];
  readonly arweave: readonly PayloadSource[];
  readonly others: readonly PayloadSource[];
};

export type SoulGateways = {
  /**
   * The payload that the first of the gateways has under an id; null when none has it. Under a CID they are its bytes. Under any other id they are what
   * the gateway says, and only a signature in them tells whose they are.
   * @throws Rejection ARCHIVE_UNAVAILABLE when none has it, and one cannot be asked; BUSY
   */
  find(id: string): Promise<Uint8Array | null>;
};

/** An id of Arweave has the form of a digest. */
const sourcesOf = ({ ipfs, arweave, others }: GatewaySources, id: string): readonly PayloadSource[] => {
  if (isIpfsCid(id)) return [...ipfs, ...others];
  return isContentDigest(id) ? [...arweave, ...others] : [];
};

const isNamed = async (id: string, bytes: Uint8Array): Promise<boolean> =>
  !isIpfsCid(id) || (await inSlices(ipfsCid(bytes))) === id;

const late = (): Error => archiveUnavailable('gateways');

/** Asks the gateways one after the other: the operator's own come first, and no payload is in memory twice. */
export const createSoulGateways = (
  sources: GatewaySources,
  { clock, log }: { readonly clock: Pick<Clock, 'after'>; readonly log: Pick<Log, 'warn'> },
): SoulGateways => {
  const enter = placesFor(SEARCHES);
  const search = async (id: string, asked: readonly PayloadSource[], signal: AbortSignal) => {
    let away: unknown = null;
    // One that is slow must not take the time of those after it.
    const ms = Math.max(LEAST_MS, SEARCH_MS / asked.length);
    for (const source of asked) {
      try {
        const bytes = await withTimeLimit(clock, { ms, late, signal }, (ending) => source.fetch(id, ending));
        if (bytes !== null && (await isNamed(id, bytes))) return bytes;
        if (bytes !== null) log.warn({ archive: source.name, id }, 'an archive answers a CID with other bytes');
      } catch (error) {
        if (!(error instanceof Rejection) || signal.aborted) throw error;
        log.warn({ archive: source.name, err: error.cause }, 'an archive cannot be asked');
        away ??= error;
      }
    }
    if (away !== null) throw away as Error;
    return null;
  };
  return {
    find: async (id) => {
      const asked = sourcesOf(sources, id);
      if (asked.length === 0) return null;
      const leave = enter();
      try {
        return await withTimeLimit(clock, { ms: SEARCH_MS, late }, (signal) => search(id, asked, signal));
      } finally {
        leave();
      }
    },
  };
};
