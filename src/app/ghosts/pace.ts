import type { Clock } from '../../ports/clock.js';
import { nextTurn } from '../pacing/next-turn.js';
import type { Sliced } from '../../domain/rules/hold-patterns.js';
import { pause } from '../pacing/pause.js';

/** Runs pieces of work one after the other, in the order in which they came, with pauses between them; raises what the work raises. */
export type Pace = <Result>(work: () => Result) => Promise<Result>;

/**
 * Lets what is played take a share of the processor at most, however many sessions play: after each piece of work as much rest as belongs to it, and
 * in any case everything else that is due.
 * @param share of one processor, above 0 and at most 1
 */
export const createPace = (clock: Pick<Clock, 'monotonicMs' | 'after'>, share: number): Pace => {
  const waiting: (() => void)[] = [];
  let running = false;
  const runAll = async (): Promise<void> => {
    for (let run = waiting.shift(); run !== undefined; run = waiting.shift()) {
      await nextTurn();
      const beganMs = clock.monotonicMs();
      run();
      const restMs = ((clock.monotonicMs() - beganMs) * (1 - share)) / share;
      owedMs += restMs;
      // Timers are coarse: short rests are taken together.
      if (owedMs >= LEAST_REST_MS) {
        const restedMs = clock.monotonicMs();
        await pause(clock, owedMs);
        owedMs -= clock.monotonicMs() - restedMs;
      }
    }
    running = false;
  };
  let owedMs = 0;
  return (work) =>
    new Promise((resolve, reject) => {
      waiting.push(() => {
        try {
          resolve(work());
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      });
      if (running) return;
      running = true;
      void runAll();
    });
};

/** How much rest is owed before any is taken, in milliseconds. */
const LEAST_REST_MS = 4;

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
