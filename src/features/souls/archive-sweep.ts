import type { Clock } from '../../ports/clock.js';
import type { Log } from '../../ports/log.js';
import type { SoulArchive } from '../../ports/soul-archive.js';
import { pause } from '../../kernel/concurrency/pause.js';

/** How often staged payloads that have expired are dropped, in milliseconds. */
export const SWEEP_EVERY_MS = 300_000;
/** How often public payloads that are too old are dropped, in milliseconds: a search may look at every file of the archive. */
export const EXPIRE_EVERY_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** How many payloads are dropped at a time, and how many times in a row: the rest waits for the next sweep. */
const BATCH = 100;
const BATCHES = 1_000;

export type ArchiveSweepDeps = {
  readonly archive: Pick<SoulArchive, 'dropStaged' | 'dropPublic'>;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
  /** How many days public payloads are kept (ANIMA_ARCHIVE_DAYS); null keeps them for ever. */
  readonly days: number | null;
};

type Sweep = { readonly everyMs: number; readonly drop: (limit: number, now: Date) => Promise<number> };

const sweepsOf = ({ archive, days }: ArchiveSweepDeps): readonly Sweep[] => {
  const staged: Sweep = { everyMs: SWEEP_EVERY_MS, drop: (limit, now) => archive.dropStaged(now, limit) };
  if (days === null) return [staged];
  const before = (now: Date) => new Date(now.getTime() - days * DAY_MS);
  return [staged, { everyMs: EXPIRE_EVERY_MS, drop: (limit, now) => archive.dropPublic(before(now), limit) }];
};

const dropDue = async ({ drop }: Sweep, now: Date, stopping: AbortSignal): Promise<void> => {
  for (let batch = 0; batch < BATCHES && !stopping.aborted; batch += 1) if ((await drop(BATCH, now)) < BATCH) return;
};

/**
 * Drops staged payloads that were not published in time, those of imports that do not know of them (import-soul.ts), and public ones that are too
 * old, from now on until it is disposed of. Any number of processes may run it at the same time. A failure is logged once until it works again.
 */
export const startArchiveSweep = (deps: ArchiveSweepDeps): AsyncDisposable => {
  const stop = new AbortController();
  const run = async (sweep: Sweep): Promise<void> => {
    for (let isAway = false; !stop.signal.aborted;) {
      try {
        await dropDue(sweep, deps.clock.now(), stop.signal);
        isAway = false;
      } catch (err) {
        if (!isAway) deps.log.warn({ err }, 'Failed to delete expired payloads from the archive; retrying');
        isAway = true;
      }
      await pause(deps.clock, sweep.everyMs, stop.signal);
    }
  };
  const running = Promise.all(sweepsOf(deps).map(run));
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await running;
    },
  };
};
