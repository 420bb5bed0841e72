import { describe, expect, it } from 'vitest';

import { Presence } from '../../../src/kernel/concurrency/presence.js';
import { gate } from '../../support/gate.js';
import { settle } from '../../support/settle.js';

/** A server that answers a probe when the test releases it. */
const asked = () => {
  const probes: ReturnType<typeof gate<unknown>>[] = [];
  const probe = async (): Promise<void> => {
    const answer = gate<unknown>();
    probes.push(answer);
    await answer.opened;
  };
  return { presence: new Presence({ probe, away: () => new Error('away') }), probes };
};

describe('Presence', () => {
  it('passes results and errors of the work through, without a probe', async () => {
    const { presence, probes } = asked();
    expect(await presence.during(() => Promise.resolve('answer'))).toBe('answer');
    await expect(presence.during(() => Promise.reject(new Error('thrown')))).rejects.toThrow('thrown');
    expect([presence.isAway, presence.isNeeded, probes.length]).toEqual([false, false, 0]);
  });

  it('fails and cancels all running work when the server falls silent', async () => {
    const { presence } = asked();
    const signals: AbortSignal[] = [];
    const work = (signal: AbortSignal): Promise<never> => {
      signals.push(signal);
      return new Promise(() => undefined);
    };
    const failing = Promise.allSettled([presence.during(work), presence.during(work)]);
    expect([presence.isNeeded, signals.some(({ aborted }) => aborted)]).toEqual([true, false]);
    presence.fellSilent();
    const outcomes = await failing;
    for (const [at, outcome] of outcomes.entries()) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { message: 'away' } });
      expect(signals[at]?.reason).toBe((outcome as PromiseRejectedResult).reason);
    }
    expect(presence.isNeeded).toBe(false);
  });

  it('refuses work immediately while the server is down, and runs it again once it has answered', async () => {
    const { presence } = asked();
    presence.fellSilent();
    let begun = 0;
    const work = (): Promise<void> => {
      begun += 1;
      return Promise.resolve();
    };
    await expect(presence.during(work)).rejects.toThrow('away');
    expect([presence.isAway, begun]).toEqual([true, 0]);
    presence.answered();
    await presence.during(work);
    expect([presence.isAway, begun]).toEqual([false, 1]);
  });

  it('sends one probe for all concurrent callers, and treats any answer as a sign of life', async () => {
    const { presence, probes } = asked();
    presence.fellSilent();
    const asking = Promise.all([presence.probe(), presence.probe()]);
    expect(probes).toHaveLength(1);
    probes[0]?.open(undefined);
    await asking;
    expect(presence.isAway).toBe(false);
    void presence.probe();
    expect(probes).toHaveLength(2);
  });

  it('lets its owner interpret an unanswered probe, and probes again', async () => {
    const { presence, probes } = asked();
    const lost = expect(presence.probe()).rejects.toThrow('no answer');
    probes[0]?.open(Promise.reject(new Error('no answer')));
    await lost;
    expect(presence.isAway).toBe(false);
    presence.fellSilent();
    const next = expect(presence.probe()).rejects.toThrow('no answer');
    probes[1]?.open(Promise.reject(new Error('no answer')));
    await next;
    expect(presence.isAway).toBe(true);
  });

  it('leaves no unhandled rejection when work fails after the server is gone', async () => {
    const { presence } = asked();
    const { opened, open } = gate<Promise<never>>();
    const failing = expect(presence.during(() => opened)).rejects.toThrow('away');
    presence.fellSilent();
    await failing;
    open(Promise.reject(new Error('cancelled')));
    await settle();
  });
});
