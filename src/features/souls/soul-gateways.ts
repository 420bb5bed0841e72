import { LRUCache } from 'lru-cache';

import { inSlices } from '../../kernel/concurrency/in-slices.js';
import { isContentDigest } from '../../kernel/crypto/content-digest.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { archiveUnavailable } from '../../ports/archive-unavailable.js';
import { ipfsCid, isIpfsCid } from '../../kernel/crypto/ipfs-cid.js';
import type { Clock } from '../../ports/clock.js';
import type { Log } from '../../ports/log.js';
import type { PayloadSource } from '../../ports/payload-source.js';
import { Semaphore } from '../../kernel/concurrency/semaphore.js';
import { withTimeLimit } from '../../kernel/concurrency/time-limit.js';

/** The time limit of one search, in milliseconds: shorter than clients wait. */
const SEARCH_MS = 10_000;
/**
 * The maximum number of searches that one process makes at a time, in total and for one tenant: each may hold a payload, and wait for a slow archive.
 */
const SEARCHES = 8;
const TENANT_SEARCHES = 4;

/** Gateways for payloads that the built-in archive does not have, by the form of their ids. `others` may have any. */
export type GatewaySources = {
  readonly ipfs: readonly PayloadSource[];
  readonly arweave: readonly PayloadSource[];
  readonly others: readonly PayloadSource[];
};

export type SoulGateways = {
  /**
   * The payload that the first of the gateways has under an id; null if none has it. Under a CID, the bytes are verified against it. Under any other
   * id they are whatever the gateway returns, and only a signature in them shows their origin.
   * @param tenant the caller's tenant
   * @throws Rejection ARCHIVE_UNAVAILABLE if none has it, and one cannot be asked; BUSY
   */
  find(id: string, tenant: string): Promise<Uint8Array | null>;
};

/** How long an archive is not asked again for a payload that it did not have, in milliseconds: new uploads are found soon. */
const NONE_MS = 5_000;
/** The same after a failed request: as long as clients are told to wait. */
const AWAY_MS = 2_000;
/** The number of ids whose last outcome is remembered. */
const OUTCOMES = 1_024;

/** A remote archive that remembers briefly what it did not have, so that repeated requests are not forwarded each time. */
type MissCachingArchive = {
  /**
   * The bytes under an id; null if it has none. Under a CID they are the bytes that it names.
   * @throws Rejection ARCHIVE_UNAVAILABLE; the reason of the signal
   */
  find(id: string, limit: { readonly ms: number; readonly signal: AbortSignal }): Promise<Uint8Array | null>;
};

const isNamed = async (id: string, bytes: Uint8Array): Promise<boolean> =>
  !isIpfsCid(id) || (await inSlices(ipfsCid(bytes))) === id;

const tooLate = (): Error => archiveUnavailable('gateways');

const createMissCachingArchive = (
  source: PayloadSource,
  { clock, log }: { readonly clock: Pick<Clock, 'after' | 'monotonicMs'>; readonly log: Pick<Log, 'warn'> },
): MissCachingArchive => {
  const archive = source.name;
  const outcomes = new LRUCache<string, { readonly untilMs: number; readonly refusal: Rejection | null }>({
    max: OUTCOMES,
  });
  const note = (id: string, ms: number, refusal: Rejection | null): void => {
    outcomes.set(id, { untilMs: clock.monotonicMs() + ms, refusal });
  };
  return {
    find: async (id, { ms, signal }) => {
      const known = outcomes.get(id);
      if (known !== undefined && clock.monotonicMs() < known.untilMs) {
        if (known.refusal !== null) throw known.refusal;
        return null;
      }
      try {
        const found = await withTimeLimit(clock, { ms, late: tooLate, signal }, (ending) => source.fetch(id, ending));
        if (found === 'too_large') log.warn({ archive, id }, 'An archive sent more bytes than a payload may have');
        else if (found !== null) {
          if (await isNamed(id, found)) return found;
          log.warn({ archive, id }, 'An archive sent bytes that do not match the CID');
        }
      } catch (error) {
        if (!(error instanceof Rejection) || signal.aborted) throw error;
        log.warn({ archive, err: error.cause }, 'Request to an archive failed');
        note(id, AWAY_MS, error);
        throw error;
      }
      note(id, NONE_MS, null);
      return null;
    },
  };
};

const search = async (
  id: string,
  archives: readonly MissCachingArchive[],
  signal: AbortSignal,
): Promise<Uint8Array | null> => {
  let away: Rejection | null = null;
  // A slow one must not use up the time of those after it. There are at most 18, which then have half a second each.
  const ms = SEARCH_MS / archives.length;
  for (const archive of archives) {
    try {
      const bytes = await archive.find(id, { ms, signal });
      if (bytes !== null) return bytes;
    } catch (error) {
      if (!(error instanceof Rejection) || signal.aborted) throw error;
      away ??= error;
    }
  }
  if (away !== null) throw away;
  return null;
};

const late = (): Error => archiveUnavailable('gateways');

/** Asks the gateways one after the other: the operator's own come first, and no payload is in memory twice. */
export const createSoulGateways = (
  sources: GatewaySources,
  deps: { readonly clock: Pick<Clock, 'after' | 'monotonicMs'>; readonly log: Pick<Log, 'warn'> },
): SoulGateways => {
  const searches = new Semaphore(SEARCHES, TENANT_SEARCHES);
  const asked = (given: readonly PayloadSource[]) => given.map((source) => createMissCachingArchive(source, deps));
  const [ipfs, arweave, others] = [asked(sources.ipfs), asked(sources.arweave), asked(sources.others)];
  /** An id of Arweave has the form of a digest. */
  const archivesOf = (id: string): readonly MissCachingArchive[] => {
    if (isIpfsCid(id)) return [...ipfs, ...others];
    return isContentDigest(id) ? [...arweave, ...others] : [];
  };
  return {
    find: async (id, tenant) => {
      const archives = archivesOf(id);
      if (archives.length === 0) return null;
      const release = searches.acquire(tenant);
      try {
        return await withTimeLimit(deps.clock, { ms: SEARCH_MS, late }, (signal) => search(id, archives, signal));
      } finally {
        release();
      }
    },
  };
};
