import { describe, expect, it } from 'vitest';

import { createUnanswered, OWED_MS } from '../../../src/app/agents/unanswered.js';
import { ManualClock } from '../../support/manual-clock.js';

describe('what is owed to requests that were told to come again', () => {
  it('is given once for each of them', () => {
    const unanswered = createUnanswered(new ManualClock());
    unanswered.noted('hello', 't1');
    unanswered.noted('hello', 't1');
    unanswered.noted('well?', 't2');
    expect([unanswered.take('hello'), unanswered.take('hello'), unanswered.take('hello')]).toEqual(['t1', 't1', null]);
    expect(unanswered.take('well?')).toBe('t2');
  });

  it('is the newest turn of an input', () => {
    const unanswered = createUnanswered(new ManualClock());
    unanswered.noted('hello', 't1');
    unanswered.noted('hello', 't2');
    expect([unanswered.take('hello'), unanswered.take('hello')]).toEqual(['t2', null]);
  });

  it('is forgotten after a while, and when there is too much of it', async () => {
    const clock = new ManualClock();
    const unanswered = createUnanswered(clock, 2);
    unanswered.noted('one', 't1');
    await clock.advance(OWED_MS);
    expect(unanswered.take('one')).toBeNull();
    for (const input of ['one', 'two', 'three']) unanswered.noted(input, 't1');
    expect(['one', 'two', 'three'].map((input) => unanswered.take(input))).toEqual([null, 't1', 't1']);
  });
});
