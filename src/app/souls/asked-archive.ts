import { LRUCache } from 'lru-cache';

import { Rejection } from '../../domain/shared/rejection.js';
import { archiveUnavailable } from '../../domain/soul/archive-unavailable.js';
import { ipfsCid, isIpfsCid } from '../../domain/soul/ipfs-cid.js';
import type { Clock } from '../../ports/clock.js';
import type { Log } from '../../ports/log.js';
import type { PayloadSource } from '../../ports/payload-source.js';
import { inSlices } from '../../concurrency/in-slices.js';
import { withTimeLimit } from '../../concurrency/time-limit.js';

/** How long an archive is not asked again for what it did not have, in milliseconds: what is brought there is found soon. */
const NONE_MS = 5_000;
/** The same for what it could not be asked for: as long as clients are told to wait. */
const AWAY_MS = 2_000;
/** Of how many ids the last outcome is known. */
const OUTCOMES = 1_024;

/** An archive of others that remembers for a moment what it did not have, so that repeats of a question do not go out each time. */
export type AskedArchive = {
  /**
   * The bytes under an id; null when it has none. Under a CID they are the bytes that it names.
   * @throws Rejection ARCHIVE_UNAVAILABLE; the reason of the signal
   */
  find(id: string, limit: { readonly ms: number; readonly signal: AbortSignal }): Promise<Uint8Array | null>;
};

const isNamed = async (id: string, bytes: Uint8Array): Promise<boolean> =>
  !isIpfsCid(id) || (await inSlices(ipfsCid(bytes))) === id;

const late = (): Error => archiveUnavailable('gateways');

export const createAskedArchive = (
  source: PayloadSource,
  { clock, log }: { readonly clock: Pick<Clock, 'after' | 'monotonicMs'>; readonly log: Pick<Log, 'warn'> },
): AskedArchive => {
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
        const found = await withTimeLimit(clock, { ms, late, signal }, (ending) => source.fetch(id, ending));
        if (found === 'too_large') log.warn({ archive, id }, 'an archive answers more than a payload may have');
        else if (found !== null) {
          if (await isNamed(id, found)) return found;
          log.warn({ archive, id }, 'an archive answers a CID with other bytes');
        }
      } catch (error) {
        if (!(error instanceof Rejection) || signal.aborted) throw error;
        log.warn({ archive, err: error.cause }, 'an archive cannot be asked');
        note(id, AWAY_MS, error);
        throw error;
      }
      note(id, NONE_MS, null);
      return null;
    },
  };
};
