import type { Clock } from '../../ports/clock.js';
import { FairSemaphore } from '../../kernel/concurrency/fair-semaphore.js';
import { yieldToEventLoop } from '../../kernel/concurrency/yield-to-event-loop.js';
import type { Sliced } from '../../kernel/base/sliced.js';
import { pause } from '../../kernel/concurrency/pause.js';

/** Runs pieces of a tenant's work in order of arrival; propagates errors from the work, and Rejection BUSY if too many wait. */
export type Pace = <Result>(work: () => Result) => Promise<Result>;
/** The pace of a tenant's work alongside the work of others. */
export type SharedPace = (tenant: string) => Pace;

/**
 * Limits all playing sessions together to a share of the processor: each piece of work is followed by a proportional pause, and in any case by
 * everything else that is due. Tenants take turns: one with many sessions does not slow down the single session of another.
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
        // Timers are coarse, so short pauses are combined.
        if (owedMs >= LEAST_REST_MS) rested = rest();
      }
    });
};

/** How many pieces of work may wait, in total and per tenant. */
const PIECES_QUEUED = 10_000;
const TENANT_PIECES_QUEUED = 2_000;
/** How much pause must be owed before any is taken, and how much may be taken in advance, in milliseconds. */
const LEAST_REST_MS = 4;
/** If a piece seems to take longer, the process itself was suspended, which does not count as work; in milliseconds. */
const LONGEST_PIECE_MS = 100;

/**
 * The same pace, which also reports how long the work itself has taken so far, in milliseconds: without pauses, and without other work in between.
 */
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

/** Runs sliced work at the shared pace. */
export const atPace = async <Result>(pace: Pace, work: Sliced<Result>): Promise<Result> => {
  for (;;) {
    const { done, value } = await pace(() => work.next());
    if (done === true) return value;
  }
};
