import { beforeEach, describe, expect, it } from 'vitest';

import { type Breaker, createBreaker, FAILURES, OPEN_MS } from '../../../src/adapters/cortex/breaker.js';
import { ManualClock } from '../../support/manual-clock.js';

describe('a breaker', () => {
  let clock: ManualClock;
  let breaker: Breaker;
  beforeEach(() => {
    clock = new ManualClock();
    breaker = createBreaker(clock);
  });
  const fail = (times: number): void => {
    for (let n = 0; n < times; n += 1) {
      breaker.enter();
      breaker.failed('Down.');
    }
  };

  it('lets calls through until enough of them failed in a row [6.4c]', () => {
    expect([FAILURES, OPEN_MS]).toEqual([3, 5_000]);
    fail(FAILURES - 1);
    breaker.enter();
    breaker.succeeded();
    fail(FAILURES - 1);
    expect([breaker.enter(), breaker.reason()]).toEqual([0, null]);
    breaker.failed('Down.');
    expect([breaker.enter(), breaker.reason()]).toEqual([OPEN_MS, 'Down.']);
  });

  it('opens immediately for a failure that a retry cannot fix [6.4d]', () => {
    breaker.enter();
    breaker.failed('No such key.', true);
    expect([breaker.enter(), breaker.reason()]).toEqual([OPEN_MS, 'No such key.']);
  });

  it('lets one call try after a pause, and holds the others until that call has ended [6.4c]', async () => {
    fail(FAILURES);
    await clock.advance(OPEN_MS - 1);
    expect(breaker.enter()).toBeGreaterThan(0);
    await clock.advance(1);
    expect([breaker.enter(), breaker.enter()]).toEqual([0, OPEN_MS]);
    breaker.failed('Still down.');
    expect([breaker.enter(), breaker.reason()]).toEqual([OPEN_MS, 'Still down.']);
    await clock.advance(OPEN_MS);
    breaker.enter();
    breaker.succeeded();
    expect([breaker.enter(), breaker.reason()]).toEqual([0, null]);
  });

  it('reports calls as blocked only while it blocks them, even if none was tried [7.1p]', async () => {
    expect(breaker.away()).toBeNull();
    fail(FAILURES);
    expect(breaker.away()).toBe('Down.');
    await clock.advance(OPEN_MS - 1);
    expect(breaker.away()).toBe('Down.');
    await clock.advance(1);
    expect([breaker.away(), breaker.reason()]).toEqual([null, 'Down.']);
  });

  it('lets another call try when the first was cancelled', async () => {
    fail(FAILURES);
    await clock.advance(OPEN_MS);
    breaker.enter();
    breaker.left();
    expect(breaker.enter()).toBe(0);
  });
});
