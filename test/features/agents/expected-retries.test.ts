import { describe, expect, it } from 'vitest';

import { createExpectedRetries, RETRY_WITHIN_MS } from '../../../src/features/agents/expected-retries.js';
import { ManualClock } from '../../support/manual-clock.js';

describe('expected retries', () => {
  it('return the turn once for each request that was refused [7.1s]', () => {
    const retries = createExpectedRetries(new ManualClock());
    retries.expect('hello', 't1');
    retries.expect('hello', 't1');
    retries.expect('well?', 't2');
    expect([retries.take('hello'), retries.take('hello'), retries.take('hello')]).toEqual(['t1', 't1', null]);
    expect(retries.take('well?')).toBe('t2');
  });

  it('return the newest turn of an input', () => {
    const retries = createExpectedRetries(new ManualClock());
    retries.expect('hello', 't1');
    retries.expect('hello', 't2');
    expect([retries.take('hello'), retries.take('hello')]).toEqual(['t2', null]);
  });

  it('are forgotten after a while, and when there are too many [7.1s]', async () => {
    const clock = new ManualClock();
    const retries = createExpectedRetries(clock, 2);
    expect(RETRY_WITHIN_MS).toBe(60_000);
    retries.expect('zero', 't0');
    await clock.advance(RETRY_WITHIN_MS - 1);
    expect(retries.take('zero')).toBe('t0');
    retries.expect('one', 't1');
    await clock.advance(RETRY_WITHIN_MS);
    expect(retries.take('one')).toBeNull();
    for (const input of ['one', 'two', 'three']) retries.expect(input, 't1');
    expect(['one', 'two', 'three'].map((input) => retries.take(input))).toEqual([null, 't1', 't1']);
  });
});
