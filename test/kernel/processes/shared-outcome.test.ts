import { describe, expect, it } from 'vitest';

import { SingleFlight } from '../../../src/kernel/concurrency/single-flight.js';
import { outcomeWithin } from '../../../src/kernel/processes/shared-outcome.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import type { ProcessRuntime, StepAnswer } from '../../../src/ports/process-runtime.js';
import { ManualClock } from '../../support/manual-clock.js';
import { settle } from '../../support/settle.js';
import { STREAM } from '../../support/streams.js';

const ref = { process: 'soulExport', id: 's1', stream: STREAM };
const by = { tenant: 'local', actor: 'k', commandId: 'c', correlationId: 'c', causationId: null };
const done: StepAnswer = { answer: 'done', revision: 1, position: 1 };

const waiting = (outcome: ProcessRuntime['outcome']) => {
  const clock = new ManualClock();
  const deps = { runtime: { outcome }, clock, waits: new SingleFlight<StepAnswer>() };
  return { clock, wait: (ms = 12_000) => outcomeWithin(deps, ref, by, ms) };
};

describe('the outcome of a process', () => {
  it('is waited for once, however many callers want it', async () => {
    let asked = 0;
    let tell: (answer: StepAnswer) => void = () => undefined;
    const { wait } = waiting(() => {
      asked += 1;
      return new Promise((resolve) => (tell = resolve));
    });
    const all = Array.from({ length: 16 }, () => wait());
    await settle();
    tell(done);
    expect(await Promise.all(all)).toEqual(Array(16).fill(done));
    expect(asked).toBe(1);
  });

  it('is requested again if others wait already, and is null when the time is up', async () => {
    let refusals = 0;
    const { clock, wait } = waiting(() => {
      refusals += 1;
      return refusals < 3 ? Promise.reject(new Rejection('BUSY')) : Promise.resolve(done);
    });
    const outcome = wait();
    await settle();
    await clock.advance(1_000);
    expect(await outcome).toEqual(done);

    const full = waiting(() => Promise.reject(new Rejection('BUSY')));
    const none = full.wait();
    await settle();
    await full.clock.advance(12_000);
    expect(await none).toBeNull();
  });

  it('fails as the runtime does', async () => {
    const { wait } = waiting(() => Promise.reject(new Rejection('ENGINE_UNAVAILABLE')));
    await expect(wait()).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
  });
});
