import { isFinal, payloadBytes, type StepArgs, type StepResult } from '../src/kernel/processes/process-step.js';
import type { BatchedStep } from '../workflows/temporal/process-batch.js';
import { BATCHED_STEP_MS } from '../src/kernel/processes/process-limits.js';
import { withTimeLimit } from '../src/kernel/concurrency/time-limit.js';
import { sha256Base64url } from '../src/kernel/crypto/sha256.js';
import type { Clock } from '../src/ports/clock.js';
import { processKey } from '../src/ports/process-runtime.js';

/**
 * The maximum number of steps of batches that a worker has in progress, including those that no batch waits for any longer. Further ones are refused
 * immediately. The same number of results for which no batch waited are kept.
 */
export const BATCHED_STEPS = 512;
/** How long they are kept, in milliseconds: callers do not ask for longer. */
export const RESULT_KEPT_MS = 8_000;
/** How long a step may take, in milliseconds. A longer one releases its permit. */
export const LONGEST_STEP_MS = 10_000;

export type StepBatchDeps = {
  readonly clock: Pick<Clock, 'after' | 'monotonicMs'>;
  /** One step. @throws what is not a refusal */
  readonly advance: (step: StepArgs) => Promise<StepResult>;
};

/**
 * Runs the steps of a batch concurrently; those of one process run in their order, because `advance` queues them. A step that takes longer than
 * BATCHED_STEP_MS is answered `later` and continues: the same request joins it when it is repeated, or gets its result, so that even a step that
 * always takes that long is answered. Failures and refusals are values of their own step. Answers above `answerBytes` in all are left out, like those
 * that are too large to travel alone.
 */
export const createStepBatches = ({
  clock,
  advance,
}: StepBatchDeps): ((steps: readonly StepArgs[], answerBytes: number) => Promise<readonly BatchedStep[]>) => {
  const underWay = new Map<string, Promise<BatchedStep>>();
  /** In the order in which they came. */
  const results = new Map<string, { readonly result: BatchedStep; readonly untilMs: number }>();
  const keep = (key: string, result: BatchedStep): void => {
    const nowMs = clock.monotonicMs();
    results.delete(key);
    results.set(key, { result: withoutAnswer(result), untilMs: nowMs + RESULT_KEPT_MS });
    for (const [oldest, { untilMs }] of results) {
      if (untilMs > nowMs && results.size <= BATCHED_STEPS) break;
      results.delete(oldest);
    }
  };
  const begin = (key: string, step: StepArgs): Promise<BatchedStep> => {
    const known = underWay.get(key);
    if (known !== undefined) return known;
    if (underWay.size >= BATCHED_STEPS) return Promise.resolve(tooMany);
    const limit = {
      ms: LONGEST_STEP_MS,
      late: () => new Error(`a step took longer than ${String(LONGEST_STEP_MS)} ms`),
    };
    const begun = withTimeLimit(clock, limit, () => advance(step))
      .catch((error: unknown): BatchedStep => ({ failed: error instanceof Error ? error.message : String(error) }))
      .then((result) => {
        underWay.delete(key);
        if (step.inputs !== 'deadline' && !isPassing(result)) keep(key, result);
        return result;
      });
    underWay.set(key, begun);
    return begun;
  };
  const take = async (step: StepArgs, late: Promise<BatchedStep>): Promise<BatchedStep> => {
    const key = keyOf(step);
    const kept = results.get(key);
    const isKept = kept !== undefined && kept.untilMs > clock.monotonicMs();
    const result = isKept ? kept.result : await Promise.race([begin(key, step), late]);
    if (!('later' in result)) results.delete(key);
    return result;
  };
  return async (steps, answerBytes) => {
    let cancel = (): void => undefined;
    const late = new Promise<BatchedStep>((resolve) => {
      cancel = clock.after(BATCHED_STEP_MS, () => resolve({ later: true }));
    });
    try {
      return fitting(await Promise.all(steps.map((step) => take(step, late))), answerBytes);
    } finally {
      cancel();
    }
  };
};

/** Whether a result is temporary, and so must not answer a later request. */
const isPassing = (step: BatchedStep): boolean =>
  'failed' in step || ('reply' in step && 'refused' in step.reply && !isFinal(step.reply.refused));

const keyOf = ({ ref, inputs, by }: StepArgs): string =>
  sha256Base64url(JSON.stringify([processKey(ref), by?.commandId, inputs]));

const tooMany: BatchedStep = {
  reply: {
    refused: {
      code: 'BUSY',
      message: 'Too many steps are in progress. Try again shortly.',
      details: {},
      retryAfter: 1,
    },
  },
  standing: null,
};

/** Leaves out answers until the rest fits: the caller rebuilds each of them from the stream. */
const fitting = (steps: readonly BatchedStep[], answerBytes: number): readonly BatchedStep[] => {
  let room = answerBytes;
  return steps.map((step) => {
    // The others are small, and once there is no room nothing more is measured: that takes time which all steps of this worker share.
    if (!hasAnswer(step)) return step;
    const bytes = room > 0 ? payloadBytes(step) : Infinity;
    if (bytes > room) return withoutAnswer(step);
    room -= bytes;
    return step;
  });
};

const hasAnswer = (step: BatchedStep): boolean =>
  'reply' in step && !('refused' in step.reply) && step.reply.answer !== undefined;

const withoutAnswer = (step: BatchedStep): BatchedStep => {
  if (!('reply' in step) || 'refused' in step.reply || step.reply.answer === undefined) return step;
  const { answer: _, ...reply } = step.reply;
  return { ...step, reply: { ...reply, large: true } };
};
