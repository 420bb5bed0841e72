import { payloadBytes, type StepArgs, type StepResult } from '../workflows/process-step.js';
import type { BatchedStep } from '../workflows/process-batch.js';
import { BATCH_ANSWER_BYTES, BATCHED_STEP_MS } from '../workflows/process-limits.js';
import type { Clock } from '../src/ports/clock.js';
import { processKey } from '../src/ports/process-engine.js';

/** How many steps of batches a worker has under way, those that batches wait for no longer included. More are refused at once. */
export const BATCHED_STEPS = 512;

export type StepBatchDeps = {
  readonly clock: Pick<Clock, 'after'>;
  /** One step. @throws what is not a refusal */
  readonly advance: (step: StepArgs) => Promise<StepResult>;
};

/**
 * Takes the steps of a batch, all at once; those of one process go in their order, because `advance` lines them up. A step that takes longer than
 * BATCHED_STEP_MS is answered `later` and goes on: the same command of the same process joins it when it is asked again. Failures and refusals
 * are values of their own step. Answers above BATCH_ANSWER_BYTES in all are left out, as those that are too large to travel alone.
 */
export const createStepBatches = ({
  clock,
  advance,
}: StepBatchDeps): ((steps: readonly StepArgs[]) => Promise<readonly BatchedStep[]>) => {
  const underWay = new Map<string, Promise<BatchedStep>>();
  const begin = (step: StepArgs): Promise<BatchedStep> => {
    const key = keyOf(step);
    const known = underWay.get(key);
    if (known !== undefined) return known;
    if (underWay.size >= BATCHED_STEPS) return Promise.resolve(tooMany);
    const begun = advance(step)
      .catch((error: unknown): BatchedStep => ({ failed: error instanceof Error ? error.message : String(error) }))
      .finally(() => underWay.delete(key));
    underWay.set(key, begun);
    return begun;
  };
  return async (steps) => {
    let cancel = (): void => undefined;
    const late = new Promise<BatchedStep>((resolve) => {
      cancel = clock.after(BATCHED_STEP_MS, () => resolve({ later: true }));
    });
    try {
      return fitting(await Promise.all(steps.map((step) => Promise.race([begin(step), late]))));
    } finally {
      cancel();
    }
  };
};

const keyOf = ({ ref, inputs, by }: StepArgs): string => JSON.stringify([processKey(ref), by?.commandId, inputs]);

const tooMany: BatchedStep = {
  reply: { refused: { code: 'BUSY', message: 'Too many steps are under way.', details: {}, retryAfter: 1 } },
  standing: null,
};

/** Leaves out answers until the rest fits: each is made again from the stream by who asked. */
const fitting = (steps: readonly BatchedStep[]): readonly BatchedStep[] => {
  if (payloadBytes(steps) <= BATCH_ANSWER_BYTES) return steps;
  let room = BATCH_ANSWER_BYTES;
  return steps.map((step) => {
    const kept = payloadBytes(step) <= room ? step : withoutAnswer(step);
    room -= payloadBytes(kept);
    return kept;
  });
};

const withoutAnswer = (step: BatchedStep): BatchedStep => {
  if (!('reply' in step) || 'refused' in step.reply || step.reply.answer === undefined) return step;
  const { answer: _, ...reply } = step.reply;
  return { ...step, reply: { ...reply, large: true } };
};
