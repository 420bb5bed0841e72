import { describe, expect, it } from 'vitest';

import { withTimeLimit } from '../../../src/kernel/concurrency/time-limit.js';
import { ManualClock } from '../../support/manual-clock.js';

const late = () => new Error('too late');

describe('a time limit', () => {
  it('returns a result in time, and leaves no timer behind', async () => {
    const clock = new ManualClock();
    let seen: AbortSignal | undefined;
    const work = (signal: AbortSignal) => {
      seen = signal;
      return Promise.resolve('done');
    };
    expect(await withTimeLimit(clock, { ms: 1_000, late }, work)).toBe('done');
    await clock.advance(2_000);
    expect(seen?.aborted).toBe(false);
  });

  it('aborts late work, and does not wait for it', async () => {
    const clock = new ManualClock();
    let seen: AbortSignal | undefined;
    const limited = withTimeLimit(clock, { ms: 1_000, late }, (signal) => {
      seen = signal;
      return new Promise(() => undefined);
    });
    const rejected = expect(limited).rejects.toThrow('too late');
    await clock.advance(999);
    expect(seen?.aborted).toBe(false);
    await clock.advance(1);
    await rejected;
    expect(seen?.aborted).toBe(true);
  });

  it('ends with the given signal, even if that has already aborted', async () => {
    const clock = new ManualClock();
    const abort = new AbortController();
    let ran = 0;
    const work = () => {
      ran += 1;
      return new Promise(() => undefined);
    };
    const limited = withTimeLimit(clock, { ms: 1_000, late, signal: abort.signal }, work);
    abort.abort(new Error('gone'));
    await expect(limited).rejects.toThrow('gone');
    await expect(withTimeLimit(clock, { ms: 1_000, late, signal: abort.signal }, work)).rejects.toThrow('gone');
    expect(ran).toBe(1);
  });

  it('passes on the error of the work, even if it throws after the end', async () => {
    const clock = new ManualClock();
    const broken = withTimeLimit(clock, { ms: 1_000, late }, () => Promise.reject(new Error('broken')));
    await expect(broken).rejects.toThrow('broken');
    let fail: (error: Error) => void = () => undefined;
    const limited = withTimeLimit(clock, { ms: 1_000, late }, () => new Promise((_, reject) => (fail = reject)));
    const rejected = expect(limited).rejects.toThrow('too late');
    await clock.advance(1_000);
    await rejected;
    fail(new Error('nobody hears this'));
  });
});
