import { describe, expect, it } from 'vitest';

import {
  Admission,
  UPDATES_AT_LEAST,
  UPDATES_AT_LEAST_WHEN_SLOW,
  UPDATES_AT_MOST,
} from '../../../src/adapters/temporal/admission.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import { gate } from '../../support/gate.js';
import { ManualClock } from '../../support/manual-clock.js';
import { settle } from '../../support/settle.js';

const unavailable = new Rejection('ENGINE_UNAVAILABLE', { retryAfter: 1 });
/** How often one ask is admitted while none is answered, in milliseconds. */
const PROBE_MS = 500;
/** How many are admitted beyond the limit, and how often, while those in flight wait too long. */
const TRIED = 1;
const TRY_MS = 100;

const admitting = () => {
  const clock = new ManualClock();
  const admission = new Admission({ clock });
  const codeOf = (asked: Promise<unknown>): Promise<unknown> =>
    asked.then(
      () => 'answered',
      (error: unknown) => (error as { code?: unknown }).code,
    );
  return {
    clock,
    admission,
    /** Admits one ask that is answered immediately. */
    answer: () => codeOf(admission.admit(() => Promise.resolve())),
    fail: (error: Error) => codeOf(admission.admit(() => Promise.reject(error))),
    /** Starts up to `atMost` asks, as many as are admitted, and keeps them in flight until `end` is called. */
    fill: async (atMost: number) => {
      const { opened, open } = gate();
      let begun = 0;
      const asks = Array.from({ length: atMost }, () =>
        codeOf(
          admission.admit(() => {
            begun += 1;
            return opened;
          }),
        ),
      );
      await settle(1);
      return {
        begun,
        end: () => {
          open();
          return Promise.all(asks);
        },
      };
    },
  };
};

describe('Admission', () => {
  it('admits a minimum without any history, refuses the others immediately, and frees slots [1.5i]', async () => {
    const { clock, fill, admission } = admitting();
    for (let round = 0; round < 2; round += 1) {
      const { begun, end } = await fill(UPDATES_AT_LEAST);
      expect(begun).toBe(UPDATES_AT_LEAST);
      let isAsked = false;
      const refused = admission.admit(() => {
        isAsked = true;
        return Promise.resolve();
      });
      await expect(refused).rejects.toMatchObject({ code: 'BUSY' });
      expect(isAsked).toBe(false);
      await end();
      await clock.advance(2_000);
    }
  });

  it('frees the slot of a failed ask', async () => {
    const { fail, fill } = admitting();
    for (let failed = 0; failed < UPDATES_AT_LEAST; failed += 1) await fail(new Error('killed'));
    expect((await fill(UPDATES_AT_LEAST)).begun).toBe(UPDATES_AT_LEAST);
  });

  it('admits what is answered in two seconds, by the rate of this second or the one before', async () => {
    const { clock, answer, fill } = admitting();
    for (let answered = 0; answered < 300; answered += 1) await answer();
    const { begun, end } = await fill(UPDATES_AT_MOST);
    expect(begun).toBe(600);
    // They count for the second in which they are answered.
    await clock.advance(10_000);
    await end();
    await clock.advance(1_000);
    expect((await fill(UPDATES_AT_MOST)).begun).toBe(1_200 + TRIED);
  });

  it('forgets old rates over time', async () => {
    const { clock, answer, fill } = admitting();
    for (let answered = 0; answered < 300; answered += 1) await answer();
    await clock.advance(2_000);
    expect((await fill(UPDATES_AT_MOST)).begun).toBe(UPDATES_AT_LEAST);
  });

  it('has an upper limit however fast the answers arrive', async () => {
    const { answer, fill } = admitting();
    for (let answered = 0; answered < UPDATES_AT_MOST; answered += 1) await answer();
    expect((await fill(UPDATES_AT_MOST + 10)).begun).toBe(UPDATES_AT_MOST);
  });

  it('admits only single asks after one timed out, until one is answered [1.5i]', async () => {
    const { clock, answer, fail, fill } = admitting();
    await clock.advance(10_000);
    expect(await fail(unavailable)).toBe('ENGINE_UNAVAILABLE');
    const probe = await fill(10);
    expect(probe.begun).toBe(1);
    await clock.advance(PROBE_MS - 1);
    expect((await fill(10)).begun).toBe(0);
    await clock.advance(1);
    expect((await fill(10)).begun).toBe(1);
    await probe.end();
    expect(await answer()).toBe('answered');
    expect((await fill(10)).begun).toBe(10);
  });

  it('admits a crowd as fast as it is answered once answers arrive again, not immediately', async () => {
    const { clock, answer, fail, fill } = admitting();
    await clock.advance(10_000);
    await fail(unavailable);
    await clock.advance(PROBE_MS);
    expect(await answer()).toBe('answered');
    const first = await fill(UPDATES_AT_LEAST);
    expect(first.begun).toBe(UPDATES_AT_LEAST_WHEN_SLOW + TRIED);
    await first.end();
    expect((await fill(UPDATES_AT_LEAST)).begun).toBeGreaterThan(UPDATES_AT_LEAST_WHEN_SLOW);
    await clock.advance(2_000);
    await answer();
    expect((await fill(UPDATES_AT_LEAST)).begun).toBeGreaterThan(100);
  });

  it('counts a step that threw as answered: a worker ran it', async () => {
    const { clock, fail, fill } = admitting();
    await clock.advance(10_000);
    await fail(unavailable);
    await fail(new Error('the step threw'));
    expect((await fill(10)).begun).toBe(10);
  });

  it('keeps admitting while others are answered, even if one timed out', async () => {
    const { clock, admission, answer, fill } = admitting();
    await clock.advance(10_000);
    const { opened, open } = gate<Promise<never>>();
    const lost = admission.admit(() => opened);
    await clock.advance(1_000);
    await answer();
    open(Promise.reject(unavailable));
    await expect(lost).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
    expect((await fill(10)).begun).toBe(10);
  });

  it('admits only as many as are answered while waits are too long', async () => {
    const { clock, answer, fill } = admitting();
    await clock.advance(10_000);
    const few = await fill(UPDATES_AT_LEAST_WHEN_SLOW - 1);
    await clock.advance(2_001);
    await few.end();
    const late = await fill(UPDATES_AT_LEAST_WHEN_SLOW);
    expect(late.begun).toBe(UPDATES_AT_LEAST_WHEN_SLOW);
    await clock.advance(2_001);
    await late.end();
    expect((await fill(UPDATES_AT_LEAST)).begun, 'answered in two seconds').toBe(
      2 * UPDATES_AT_LEAST_WHEN_SLOW + TRIED,
    );
    for (let answered = 0; answered < 3; answered += 1) await answer();
    await clock.advance(2_000);
    expect((await fill(UPDATES_AT_LEAST)).begun).toBe(UPDATES_AT_LEAST - 2 * UPDATES_AT_LEAST_WHEN_SLOW - TRIED);
  });

  it('admits only one now and then while an admitted crowd waits too long, whether or not it has asked yet', async () => {
    const busy = expect.objectContaining({ code: 'BUSY' }) as Error;
    const reading = admitting();
    const leaves = Array.from({ length: UPDATES_AT_LEAST_WHEN_SLOW }, () => reading.admission.enter());
    await reading.clock.advance(2_000);
    reading.admission.enter()();

    await reading.clock.advance(1);
    reading.admission.enter();
    expect(() => reading.admission.enter()).toThrow(busy);
    for (const leave of leaves) leave();
    reading.admission.enter()();

    const asking = admitting();
    const { end } = await asking.fill(UPDATES_AT_LEAST_WHEN_SLOW);
    await asking.clock.advance(2_001);
    expect((await asking.fill(10)).begun).toBe(TRIED);
    expect((await asking.fill(10)).begun).toBe(0);
    await asking.clock.advance(TRY_MS);
    expect((await asking.fill(10)).begun).toBe(TRIED);
    await end();
    expect((await asking.fill(1)).begun).toBe(1);
  });

  it('admits others as they are answered while a few asks hang, however long', async () => {
    const { clock, answer, fill } = admitting();
    await clock.advance(10_000);
    await fill(UPDATES_AT_LEAST_WHEN_SLOW);
    await clock.advance(4_000);
    let answered = 0;
    for (let tries = 0; tries < 30; tries += 1) {
      await clock.advance(TRY_MS);
      for (let n = 0; n < 10; n += 1) if ((await answer()) === 'answered') answered += 1;
    }
    expect(answered).toBeGreaterThan(200);
  });

  it('has as many slots for requests as for asks, and frees them', async () => {
    const { clock, admission, fill } = admitting();
    for (let round = 0; round < 2; round += 1) {
      const leaves = Array.from({ length: UPDATES_AT_LEAST }, () => admission.enter());
      expect(() => admission.enter()).toThrow(expect.objectContaining({ code: 'BUSY' }) as Error);
      for (const leave of leaves) leave();
    }
    const { end } = await fill(UPDATES_AT_LEAST);
    expect(() => admission.enter()).toThrow(expect.objectContaining({ code: 'BUSY' }) as Error);
    await end();
    await clock.advance(1);
    admission.enter()();
  });

  it('admits only single requests while nothing is answered', async () => {
    const { clock, admission, fail, fill, answer } = admitting();
    const away = expect.objectContaining({ code: 'ENGINE_UNAVAILABLE' }) as Error;
    await clock.advance(10_000);
    await fail(unavailable);
    admission.enter()();
    for (let looks = 0; looks < 3; looks += 1) expect(() => admission.enter()).toThrow(away);
    await clock.advance(100);
    admission.enter()();
    await fill(1);
    await clock.advance(PROBE_MS - 1);
    expect(() => admission.enter()).toThrow(away);
    await clock.advance(1);
    admission.enter()();
    expect(await answer()).toBe('answered');
    admission.enter()();
    admission.enter()();
  });

  it('spreads the retries of refused callers over time [1.5i]', async () => {
    const { admission, fill } = admitting();
    const spread = { retryAfter: 1, retrySpread: 2 };
    await fill(UPDATES_AT_LEAST);
    await expect(admission.admit(() => Promise.resolve())).rejects.toMatchObject({ code: 'BUSY', ...spread });
    const away = admitting();
    await away.fail(unavailable);
    await away.fill(1);
    const refused = away.admission.admit(() => Promise.resolve());
    await expect(refused).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE', ...spread });
  });
});
