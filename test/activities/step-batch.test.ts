import { describe, expect, it } from 'vitest';

import { BATCHED_STEPS, createStepBatches, LONGEST_STEP_MS, RESULT_KEPT_MS } from '../../activities/step-batch.js';
import { npcStream } from '../../src/kernel/base/stream-names.js';
import type { ProcessInput } from '../../src/ports/process-runtime.js';
import type { BatchedStep } from '../../workflows/temporal/process-batch.js';
import { BATCHED_STEP_MS } from '../../src/kernel/processes/process-limits.js';
import { payloadBytes, type StepArgs, type StepResult } from '../../src/kernel/processes/process-step.js';
import { gate } from '../support/gate.js';
import { ManualClock } from '../support/manual-clock.js';
import { settle } from '../support/settle.js';
import { onBehalf } from '../support/streams.js';

const ANSWER_BYTES = 100_000;

const stepOf = (id: string, inputs: readonly ProcessInput[] = [{ type: 'start' }], commandId = id): StepArgs => ({
  ref: { process: 'race', id, stream: npcStream('studio', 'runner') },
  inputs,
  by: onBehalf(commandId),
});
const resultOf = (answer: unknown): StepResult => ({
  reply: { answer, revision: 1, position: 1 },
  standing: { state: 'started', due: null, effect: null },
});
const answerOf = (step: BatchedStep | undefined): unknown =>
  step !== undefined && 'reply' in step && 'answer' in step.reply ? step.reply.answer : undefined;

/** Batches of steps, each of which waits until the test lets it continue. */
const batches = () => {
  const clock = new ManualClock();
  const begun: { readonly step: StepArgs; readonly end: (result: StepResult | Promise<never>) => void }[] = [];
  const advance = createStepBatches({
    clock,
    advance: async (step) => {
      const { opened, open } = gate<StepResult | Promise<never>>();
      begun.push({ step, end: open });
      return opened;
    },
  });
  const advanceBatch = (steps: readonly StepArgs[]) => advance(steps, ANSWER_BYTES);
  return { clock, begun, advanceBatch };
};

describe('A batch of steps', () => {
  it('runs all steps at the same time and answers in the order of the batch', async () => {
    const { begun, advanceBatch } = batches();
    const taken = advanceBatch([stepOf('a'), stepOf('b'), stepOf('c')]);
    expect(begun.map(({ step }) => step.ref.id)).toEqual(['a', 'b', 'c']);
    for (const { step, end } of begun.toReversed()) end(resultOf(step.ref.id));
    expect((await taken).map(answerOf)).toEqual(['a', 'b', 'c']);
  });

  it('reports a failure or refusal only for its own step', async () => {
    const { begun, advanceBatch } = batches();
    const taken = advanceBatch([stepOf('a'), stepOf('b'), stepOf('c')]);
    const refused: StepResult = {
      reply: { refused: { code: 'CONFLICT', message: '', details: {} } },
      standing: null,
    };
    begun[0]?.end(Promise.reject(new Error('killed')));
    begun[1]?.end(refused);
    begun[2]?.end(resultOf('c'));
    expect(await taken).toEqual([{ failed: 'killed' }, refused, resultOf('c')]);
  });

  it('stops waiting for a slow step after its limit; an equal request joins that step', async () => {
    const { clock, begun, advanceBatch } = batches();
    const first = advanceBatch([stepOf('slow'), stepOf('quick')]);
    begun[1]?.end(resultOf('quick'));
    await clock.advance(BATCHED_STEP_MS - 1);
    let isAnswered = false;
    void first.then(() => (isAnswered = true));
    await settle();
    expect(isAnswered).toBe(false);
    await clock.advance(1);
    expect(await first).toEqual([{ later: true }, resultOf('quick')]);
    const again = advanceBatch([stepOf('slow')]);
    expect(begun).toHaveLength(2);
    begun[0]?.end(resultOf('slow'));
    expect(await again).toEqual([resultOf('slow')]);
  });

  it('runs an equal step again after the first has ended', async () => {
    const { begun, advanceBatch } = batches();
    for (const round of [0, 1]) {
      const taken = advanceBatch([stepOf('a')]);
      begun[round]?.end(resultOf(round));
      expect((await taken).map(answerOf)).toEqual([round]);
    }
  });

  it('keeps the result of a slow step, without a large answer, and returns it once to an equal request', async () => {
    const { clock, begun, advanceBatch } = batches();
    const first = advanceBatch([stepOf('slow')]);
    await clock.advance(BATCHED_STEP_MS);
    expect(await first).toEqual([{ later: true }]);
    begun[0]?.end(resultOf('an answer'));
    await settle();
    await clock.advance(RESULT_KEPT_MS - 1);
    const kept = { ...resultOf(''), reply: { large: true, revision: 1, position: 1 } };
    expect(await advanceBatch([stepOf('slow')])).toEqual([kept]);
    expect(begun).toHaveLength(1);
    void advanceBatch([stepOf('slow')]);
    expect(begun).toHaveLength(2);
  });

  it.each([
    [
      'a deadline, whose next try is one of its own',
      { ...stepOf('a', []), inputs: 'deadline', by: null } as const,
      resultOf('x'),
    ],
    [
      'a temporary refusal',
      stepOf('a'),
      {
        ...resultOf(''),
        reply: { refused: { code: 'STORE_UNAVAILABLE', message: '', details: {}, retryAfter: 1 } },
      } as const,
    ],
  ])('keeps no result of %s', async (_, step, result) => {
    const { clock, begun, advanceBatch } = batches();
    void advanceBatch([step]);
    await clock.advance(BATCHED_STEP_MS);
    begun[0]?.end(result);
    await settle();
    void advanceBatch([step]);
    expect(begun).toHaveLength(2);
  });

  it('gives up a step that never ends, and frees its slot', async () => {
    const { clock, begun, advanceBatch } = batches();
    void advanceBatch([stepOf('stuck')]);
    await clock.advance(LONGEST_STEP_MS);
    const again = advanceBatch([stepOf('stuck')]);
    expect(begun).toHaveLength(2);
    begun[1]?.end(resultOf('done'));
    expect((await again).map(answerOf)).toEqual(['done']);
  });

  it('drops a result that is not requested in time', async () => {
    const { clock, begun, advanceBatch } = batches();
    void advanceBatch([stepOf('slow')]);
    await clock.advance(BATCHED_STEP_MS);
    begun[0]?.end(resultOf('an answer'));
    await settle();
    await clock.advance(RESULT_KEPT_MS);
    void advanceBatch([stepOf('slow')]);
    expect(begun).toHaveLength(2);
  });

  it('keeps a bounded number of results, the newest ones', async () => {
    const { clock, begun, advanceBatch } = batches();
    const steps = Array.from({ length: BATCHED_STEPS }, (_, at) => stepOf(`slow ${String(at)}`));
    for (const batch of [steps, [stepOf('one more')]]) {
      void advanceBatch(batch);
      await clock.advance(BATCHED_STEP_MS);
      for (const { end } of begun) end(resultOf('late'));
      await settle();
    }
    begun.length = 0;
    void advanceBatch([...steps, stepOf('one more')]);
    expect(begun.map(({ step }) => step.ref.id)).toEqual(['slow 0']);
  });

  it('joins only steps with the same process, command and inputs', async () => {
    const { begun, advanceBatch } = batches();
    const steps: readonly StepArgs[] = [
      stepOf('a', [{ type: 'start', at: 1 }], 'command'),
      stepOf('b', [{ type: 'start', at: 1 }], 'command'),
      stepOf('a', [{ type: 'start', at: 1 }], 'another command'),
      stepOf('a', [{ type: 'start', at: 2 }], 'command'),
      stepOf('a', [], 'command'),
      { ...stepOf('a', [], 'command'), inputs: 'deadline' },
      { ...stepOf('a', []), inputs: 'deadline', by: null },
      { ...stepOf('a', [], 'own'), inputs: 'deadline' },
    ];
    const taken = advanceBatch([...steps, ...steps]);
    expect(begun).toHaveLength(steps.length);
    begun.forEach(({ end }, at) => end(resultOf(at)));
    const numbers = steps.map((_, at) => at);
    expect((await taken).map(answerOf)).toEqual([...numbers, ...numbers]);
  });

  it('runs a bounded number of steps at the same time, and refuses more as busy', async () => {
    const { clock, begun, advanceBatch } = batches();
    const many = advanceBatch(Array.from({ length: BATCHED_STEPS }, (_, at) => stepOf(String(at))));
    await clock.advance(BATCHED_STEP_MS);
    expect(await many).toEqual(Array.from({ length: BATCHED_STEPS }, () => ({ later: true })));
    const [refused] = await advanceBatch([stepOf('one more')]);
    expect(refused).toMatchObject({ reply: { refused: { code: 'BUSY', retryAfter: 1 } }, standing: null });
    expect(begun).toHaveLength(BATCHED_STEPS);
    begun[0]?.end(resultOf('done'));
    await settle();
    const taken = advanceBatch([stepOf('one more')]);
    begun[BATCHED_STEPS]?.end(resultOf('taken'));
    expect((await taken).map(answerOf)).toEqual(['taken']);
  });

  it('leaves out only the answers that would make it too large', async () => {
    const { begun, advanceBatch } = batches();
    const half = 'x'.repeat(ANSWER_BYTES / 2);
    const taken = advanceBatch(['a', 'b', 'c', 'd'].map((id) => stepOf(id)));
    for (const [at, answer] of [half, half, 'small', half].entries()) begun[at]?.end(resultOf(answer));
    const steps = await taken;
    expect(payloadBytes(steps)).toBeLessThanOrEqual(ANSWER_BYTES);
    expect(steps.map(answerOf)).toEqual([half, undefined, 'small', undefined]);
    const left = { reply: { large: true, revision: 1, position: 1 }, standing: resultOf('').standing };
    expect(steps[1]).toEqual(left);
    expect(steps[3]).toEqual(left);
  });
});
