import { describe, expect, it } from 'vitest';

import { awaitOutcome, OUTCOME_UPDATE_MS } from '../../../src/adapters/temporal/outcome-wait.js';
import type { Update } from '../../../src/adapters/temporal/process-workflows.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import { npcStream } from '../../../src/kernel/base/stream-names.js';
import type { OutcomeWait, Reply } from '../../../src/kernel/processes/process-step.js';

const ref = { process: 'race', id: 'r', stream: npcStream('studio', 'runner') };
const by = { tenant: 'studio', actor: 'key', commandId: 'c', correlationId: 'c', causationId: null };
const reached: Reply = { answer: 'reached', revision: 1, position: 1 };

/** A clock on which each pause passes immediately. */
class PassingClock {
  #nowMs = 0;
  monotonicMs(): number {
    return this.#nowMs;
  }
  after(ms: number, run: () => void): () => void {
    this.pass(ms);
    queueMicrotask(run);
    return () => undefined;
  }
  pass(ms: number): void {
    this.#nowMs += ms;
  }
}

type Sent = Pick<Update, 'argOf' | 'timeoutMs'>;
/** Waits for `withinMs` at workflows that answer the updates with `meetings`, one after the other, and repeat the last. */
const waiting = (withinMs: number, ...meetings: ((sent: Sent, clock: PassingClock) => Promise<Reply | null>)[]) => {
  const clock = new PassingClock();
  let sent = 0;
  const update = (_: unknown, update: Update): Promise<never> => {
    const meet = meetings[Math.min((sent += 1), meetings.length) - 1];
    return (meet?.(update, clock) ?? Promise.reject(new Error('not met'))) as Promise<never>;
  };
  const outcome = awaitOutcome({ workflows: { update }, clock, newId: () => 'id' }, ref, by, { withinMs });
  return { outcome: outcome.catch((error: unknown) => error), sent: () => sent };
};
const withinOf = ({ argOf }: Sent): number => (argOf() as OutcomeWait).withinMs;
const passes: (sent: Sent, clock: PassingClock) => Promise<null> = (update, clock) => {
  clock.pass(withinOf(update));
  return Promise.resolve(null);
};
const busy = () => Promise.reject(new Rejection('BUSY', { retryAfter: 1 }));

describe('A wait for an outcome at a workflow', () => {
  it('uses only the remaining time at the next run', async () => {
    const asked: number[] = [];
    const { outcome } = waiting(OUTCOME_UPDATE_MS, (update, clock) => {
      asked.push(withinOf(update));
      clock.pass(9_000);
      // The run ended, and the same update goes to the next one.
      asked.push(withinOf(update));
      expect(update.timeoutMs).toBeGreaterThan(9_000 + withinOf(update));
      return passes(update, clock);
    });
    expect(await outcome).toBeNull();
    expect(asked).toEqual([OUTCOME_UPDATE_MS, 1_000]);
  });

  it('continues when it lost its slot between two updates', async () => {
    const { outcome } = waiting(60_000, passes, busy, busy, () => Promise.resolve(reached));
    expect(await outcome).toEqual(reached);
  });

  it('ends in time when it never gets a slot again', async () => {
    const { outcome, sent } = waiting(OUTCOME_UPDATE_MS + 1_200, passes, busy);
    expect(await outcome).toBeNull();
    expect(sent()).toBe(4);
  });

  it('is refused with BUSY if it never had a slot, and with any other error at any time', async () => {
    expect(await waiting(60_000, busy).outcome).toMatchObject({ code: 'BUSY' });
    const away = () => Promise.reject(new Rejection('ENGINE_UNAVAILABLE', { retryAfter: 1 }));
    expect(await waiting(60_000, passes, away).outcome).toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
  });
});
