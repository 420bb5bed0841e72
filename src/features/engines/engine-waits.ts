import { pause } from '../../kernel/concurrency/pause.js';
import { withTimeLimit } from '../../kernel/concurrency/time-limit.js';
import { Rejection } from '../../kernel/base/rejection.js';
import type { Clock } from '../../ports/clock.js';
import type { Completed, Completion, CortexEngine } from '../../ports/cortex.js';

/** The timeout of one call, in milliseconds. */
export const ENGINE_CALL_MS = 60_000;
/** How long one completion waits for an engine that is down, in milliseconds. */
export const ENGINE_WAIT_MS = 600_000;
/** How many waiting calls one answer of the engine lets through: an engine that is up again is not called by all of them at the same time. */
export const LET_THROUGH = 4;
/** How long after a failure one waiting call tries again, in milliseconds, at most. */
const TRY_AGAIN_MS = 5_000;

/** Calls that wait, the oldest first, each by what wakes it. */
type Queue = { readonly wakes: Set<() => void>; nextTry: (() => void) | null; stopListening: () => void };

/**
 * Completions that can wait. While an engine is down, they stay here instead of failing; one of them tries again every few seconds. As soon as the
 * engine has answered anybody in this process, the others are woken, a few with each answer.
 */
export type EngineWaits = {
  /**
   * @throws what the engine throws; CORTEX_UNAVAILABLE only once ENGINE_WAIT_MS are over or all places are taken; and the reason of the signal
   */
  complete(engine: CortexEngine, asked: Completion, signal: AbortSignal): Promise<Completed>;
};

const late = ({ id }: CortexEngine): Rejection =>
  new Rejection('CORTEX_UNAVAILABLE', {
    details: { cortexId: id, reason: 'The engine did not respond in time.' },
    retryAfter: 1,
  });

const isDown = (error: unknown): error is Rejection =>
  error instanceof Rejection && error.code === 'CORTEX_UNAVAILABLE';

/** @param places how many calls may wait at the same time (ANIMA_CORTEX_WAITING) */
export const createEngineWaits = (clock: Pick<Clock, 'monotonicMs' | 'after'>, places: number): EngineWaits => {
  const queues = new Map<string, Queue>();
  let waiting = 0;

  const wake = ({ wakes }: Queue, count: number): void => {
    for (const one of [...wakes].slice(0, count)) one();
  };

  /** Lets the oldest try after this time, and again until nobody waits. */
  const tryAfter = (queue: Queue, ms: number): void => {
    queue.nextTry ??= clock.after(ms, () => {
      queue.nextTry = null;
      wake(queue, 1);
      if (queue.wakes.size > 0) tryAfter(queue, TRY_AGAIN_MS);
    });
  };

  const queueOf = (engine: CortexEngine): Queue => {
    const known = queues.get(engine.id);
    if (known !== undefined) return known;
    const queue: Queue = { wakes: new Set(), nextTry: null, stopListening: () => undefined };
    queue.stopListening = engine.onAnswer?.(() => wake(queue, LET_THROUGH)) ?? queue.stopListening;
    queues.set(engine.id, queue);
    return queue;
  };

  const dropIfEmpty = (id: string, queue: Queue): void => {
    if (queue.wakes.size > 0) return;
    queue.nextTry?.();
    queue.nextTry = null;
    queue.stopListening();
    queues.delete(id);
  };

  /** Waits until the engine is worth a call, or for this long. */
  const untilWoken = async (engine: CortexEngine, tryMs: number, ms: number, signal: AbortSignal): Promise<void> => {
    const queue = queueOf(engine);
    tryAfter(queue, tryMs);
    waiting += 1;
    await pause(clock, ms, signal, (wakeUp) => {
      queue.wakes.add(wakeUp);
      return () => queue.wakes.delete(wakeUp);
    });
    waiting -= 1;
    dropIfEmpty(engine.id, queue);
  };

  const call = (engine: CortexEngine, asked: Completion, signal: AbortSignal): Promise<Completed> =>
    withTimeLimit(clock, { ms: ENGINE_CALL_MS, late: () => late(engine), signal }, (limited) =>
      engine.complete(asked, limited),
    );

  return {
    complete: async (engine, asked, signal) => {
      const untilMs = clock.monotonicMs() + ENGINE_WAIT_MS;
      for (;;) {
        try {
          return await call(engine, asked, signal);
        } catch (error) {
          signal.throwIfAborted();
          const leftMs = untilMs - clock.monotonicMs();
          if (!isDown(error) || leftMs <= 0 || waiting >= places) throw error;
          const tryMs = Math.min((error.retryAfter ?? 1) * 1_000, TRY_AGAIN_MS);
          await untilWoken(engine, tryMs, leftMs, signal);
          signal.throwIfAborted();
        }
      }
    },
  };
};
