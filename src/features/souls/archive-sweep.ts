import type { Clock } from '../../ports/clock.js';
import type { Log } from '../../ports/log.js';
import type { SoulArchive } from '../../ports/soul-archive.js';
import { pause } from '../../kernel/concurrency/pause.js';

/** How often expired payloads are dropped, in milliseconds. */
export const SWEEP_EVERY_MS = 300_000;
/** How many payloads are dropped at a time, and how many times in a row: the rest waits for the next sweep. */
const BATCH = 100;
const BATCHES = 1_000;

export type ArchiveSweepDeps = {
  readonly archive: Pick<SoulArchive, 'dropStaged'>;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
};

const sweep = async ({ archive, clock }: ArchiveSweepDeps, stopping: AbortSignal): Promise<void> => {
  for (let batch = 0; batch < BATCHES && !stopping.aborted; batch += 1) {
    if ((await archive.dropStaged(clock.now(), BATCH)) < BATCH) return;
  }
};

/**
 * Drops staged payloads that were not published in time, and those of imports that do not know of them (import-soul.ts), from now on until it is
 * disposed of. Any number of processes may run it at the same time. A failure is logged once until it works again.
 */
export const startArchiveSweep = (deps: ArchiveSweepDeps): AsyncDisposable => {
  const stop = new AbortController();
  const run = async (): Promise<void> => {
    for (let isAway = false; !stop.signal.aborted;) {
      try {
        await sweep(deps, stop.signal);
        isAway = false;
      } catch (err) {
        if (!isAway) deps.log.warn({ err }, 'Failed to delete expired payloads from the archive; retrying');
        isAway = true;
      }
      await pause(deps.clock, SWEEP_EVERY_MS, stop.signal);
    }
  };
  const running = run();
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await running;
    },
  };
};
