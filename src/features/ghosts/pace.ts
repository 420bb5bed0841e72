import type { Clock } from '../../ports/clock.js';
import { FairSemaphore } from '../../kernel/concurrency/fair-semaphore.js';
import { yieldToEventLoop } from '../../kernel/concurrency/yield-to-event-loop.js';
import type { Sliced } from '../../kernel/base/sliced.js';
import { pause } from '../../kernel/concurrency/pause.js';

/** Runs pieces of a tenant's work one after the other, in the order in which they came; raises what the work raises, and Rejection BUSY when too many wait. */
export type Pace = <Result>(work: () => Result) => Promise<Result>;
/** The pace of a tenant's work beside that of others. */
export type SharedPace = (tenant: string) => Pace;

/**
 * Lets what is played take a share of the processor at most, however many sessions play: after each piece of work as much rest as belongs to it, and
 * in any case everything else that is due. Tenants take turns: one with many sessions does not slow down the single one of another.
 * @param share of one processor, above 0 and at most 1
 */
export const createPace = (clock: Pick<Clock, 'monotonicMs' | 'after'>, share: number): SharedPace => {
  const turns = new FairSemaphore({ permits: 1, queueLimit: PIECES_QUEUED, tenantQueueLimit: TENANT_PIECES_QUEUED });
  let owedMs = 0;
  let rested = Promise.resolve();
  const rest = async (): Promise<void> => {
    const beganMs = clock.monotonicMs();
    await pause(clock, owedMs);
    owedMs = Math.max(-LEAST_REST_MS, owedMs - (clock.monotonicMs() - beganMs));
  };
  return (tenant) => (work) =>
    turns.run({ tenant }, async () => {
      await rested;
      await yieldToEventLoop();
      const beganMs = clock.monotonicMs();
      try {
        return work();
      } finally {
        const workedMs = Math.min(LONGEST_PIECE_MS, clock.monotonicMs() - beganMs);
        owedMs += (workedMs * (1 - share)) / share;
        // Timers are coarse: short rests are taken together.
        if (owedMs >= LEAST_REST_MS) rested = rest();
      }
    });
};

/** How many pieces of work may wait, over all sessions, and of one tenant's. */
const PIECES_QUEUED = 10_000;
const TENANT_PIECES_QUEUED = 2_000;
/** How much rest is owed before any is taken, and how much may be taken ahead, in milliseconds. */
const LEAST_REST_MS = 4;
/** A piece that seems to take longer stood still with the whole process, which is no work, in milliseconds. */
const LONGEST_PIECE_MS = 100;

/** The same pace, which tells how long the work itself took so far, in milliseconds: without rest, and without what others did in between. */
export const timedPace = (
  pace: Pace,
  clock: Pick<Clock, 'monotonicMs'>,
): { readonly pace: Pace; readonly tookMs: () => number } => {
  let ms = 0;
  return {
    pace: (work) =>
      pace(() => {
        const beganMs = clock.monotonicMs();
        try {
          return work();
        } finally {
          ms += clock.monotonicMs() - beganMs;
        }
      }),
    tookMs: () => Math.round(ms * 100) / 100,
  };
};

/** Runs work that comes in slices at the pace of all that is played. */
export const atPace = async <Result>(pace: Pace, work: Sliced<Result>): Promise<Result> => {
  for (;;) {
    const { done, value } = await pace(() => work.next());
    if (done === true) return value;
  }
};
