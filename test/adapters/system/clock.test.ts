import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { systemClock } from '../../../src/adapters/system/clock.js';

const HOUR_MS = 3_600_000;

describe('The clocks of the machine', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const wallBy = (ms: number) => vi.setSystemTime(Date.now() + ms);

  it('complete a duration even if the wall clock is set back', () => {
    const run = vi.fn();
    systemClock.after(200, run);
    const began = systemClock.monotonicMs();
    wallBy(-HOUR_MS);
    vi.advanceTimersByTime(200);
    expect(run).toHaveBeenCalledOnce();
    expect(systemClock.monotonicMs() - began).toBe(200);
  });

  it('keep an instant when the wall clock is set back, and reach it early when it is set forward', () => {
    const run = vi.fn();
    systemClock.at(new Date(Date.now() + HOUR_MS), run);
    wallBy(-HOUR_MS);
    vi.advanceTimersByTime(HOUR_MS);
    expect(run).not.toHaveBeenCalled();
    wallBy(HOUR_MS);
    vi.advanceTimersByTime(31_000);
    expect(run).toHaveBeenCalledOnce();
  });

  it('run nothing once the wait is cancelled, for durations and for instants', () => {
    const run = vi.fn();
    const cancels = [systemClock.after(100, run), systemClock.at(new Date(Date.now() + HOUR_MS), run)];
    vi.advanceTimersByTime(50);
    for (const cancel of cancels) cancel();
    vi.advanceTimersByTime(2 * HOUR_MS);
    expect(run).not.toHaveBeenCalled();
  });
});
