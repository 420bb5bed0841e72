import { WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';

import { UPDATE_TIMEOUT_MS, replyTo } from '../../../src/adapters/temporal/step-update.js';
import type { Update } from '../../../src/adapters/temporal/process-workflows.js';
import { createServerClock } from '../../../src/adapters/temporal/server-clock.js';
import { npcStream } from '../../../src/kernel/base/stream-names.js';
import {
  UPDATE_LATE,
  type StepUpdateRequest,
  type StepUpdateResult,
  STEP_FAILED,
} from '../../../src/kernel/processes/process-step.js';
import { ManualClock } from '../../support/manual-clock.js';
import { onBehalf } from '../../support/streams.js';

const APART_MS = 1_000_000;
const stream = npcStream('studio', 'runner');
const ref = { process: 'race', id: 'r', stream };
const refused = { refused: { code: 'CONFLICT', message: '', details: {} } } as const;
const reached = { revision: 1, position: 1 };

const failure = (type: string, details: unknown[] = []): Error =>
  new WorkflowUpdateFailedError('failed', ApplicationFailure.create({ message: 'of the step', type, details }));
const late = failure(UPDATE_LATE);

/** One ask, to workflows that answer its updates with these, each after three seconds. */
const asking = (...results: readonly (StepUpdateResult | Error)[]) => {
  const clock = new ManualClock();
  const serverClock = createServerClock();
  const left = [...results];
  const updates: { readonly id: string; readonly untilMs: number | undefined; readonly timeoutMs: number }[] = [];
  const update = async (_: unknown, { timeoutMs, idOf, argOf }: Update): Promise<never> => {
    updates.push({ id: idOf(), untilMs: (argOf() as StepUpdateRequest).untilMs, timeoutMs });
    await clock.advance(3_000);
    const result = left.shift();
    if (result instanceof Error) throw result;
    return result as never;
  };
  return {
    clock,
    serverClock,
    updates,
    reply: () =>
      replyTo({ workflows: { update }, clock, serverClock }, ref, {
        stream,
        inputs: [],
        by: onBehalf('c'),
        token: 'mine',
      }),
  };
};

describe('A reply to an ask', () => {
  it('is requested again when the server returns the reply of an earlier ask, within the time limit of one ask', async () => {
    const { updates, reply } = asking({ token: 'earlier', reply: refused }, { token: 'mine', reply: reached });
    expect(await reply()).toEqual(reached);
    expect(updates.map(({ timeoutMs }) => timeoutMs)).toEqual([UPDATE_TIMEOUT_MS, UPDATE_TIMEOUT_MS - 3_000]);
    expect(new Set(updates.map(({ id }) => id)).size).toBe(2);
  });

  it('may be the reply of an earlier ask, unless that was refused', async () => {
    const { updates, reply } = asking({ token: 'earlier', reply: reached });
    expect(await reply()).toEqual(reached);
    expect(updates).toHaveLength(1);
  });

  it('is not waited for beyond its deadline on the server’s clock, once that is known', async () => {
    const { clock, serverClock, updates, reply } = asking(
      { token: 'mine', reply: reached, atMs: APART_MS + 100 },
      { token: 'mine', reply: reached, atMs: APART_MS + 3_200 },
      { token: 'earlier', reply: reached, atMs: 0 },
      { token: 'mine', reply: reached },
    );
    await reply();
    await reply();
    // The reply to an earlier ask has an earlier time, and a worker of an earlier version sends none.
    await reply();
    await reply();
    expect(clock.monotonicMs()).toBe(12_000);
    expect(updates.map(({ untilMs }) => untilMs)).toEqual([
      undefined,
      3_000 + UPDATE_TIMEOUT_MS + APART_MS + 100,
      6_000 + UPDATE_TIMEOUT_MS + APART_MS + 100,
      9_000 + UPDATE_TIMEOUT_MS + APART_MS + 100,
    ]);
    expect(serverClock.at(0)).toBe(APART_MS + 100);
  });

  it('is requested once more, without a deadline, when it was late', async () => {
    const { serverClock, updates, reply } = asking(late, { token: 'mine', reply: reached, atMs: APART_MS });
    serverClock.note(0, 5);
    expect(await reply()).toEqual(reached);
    expect(updates.map(({ untilMs }) => untilMs)).toEqual([5 + UPDATE_TIMEOUT_MS, undefined]);
    expect(serverClock.at(3_000)).toBe(APART_MS);
  });

  it('that is late every time is given up', async () => {
    const { updates, reply } = asking(late, late);
    await expect(reply()).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE', retryAfter: 1, retrySpread: 2 });
    expect(updates).toHaveLength(2);
  });

  it('is the error that the step threw, unless the server returns the error of an earlier ask', async () => {
    await expect(asking(failure(STEP_FAILED, ['mine'])).reply()).rejects.toThrow('of the step');
    const { updates, reply } = asking(failure(STEP_FAILED, ['earlier']), { token: 'mine', reply: reached });
    expect(await reply()).toEqual(reached);
    expect(updates).toHaveLength(2);
  });
});
