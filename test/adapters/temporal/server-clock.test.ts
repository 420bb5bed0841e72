import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { createServerClock } from '../../../src/adapters/temporal/server-clock.js';

describe('The clock of the server', () => {
  it('is unknown until an answer arrives, and again after it turns out to be wrong', () => {
    const clock = createServerClock();
    expect(clock.at(0)).toBeNull();
    clock.note(100, 5_100);
    expect(clock.at(200)).toBe(5_200);
    clock.reset();
    expect(clock.at(200)).toBeNull();
  });

  it('is never estimated too early, and is as accurate as the fastest of the last answers', () => {
    const ways = fc.array(fc.integer({ min: 0, max: 10_000 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(ways, fc.integer({ min: -1_000_000, max: 1_000_000 }), (waysMs, apartMs) => {
        const clock = createServerClock();
        waysMs.forEach((wayMs, at) => clock.note(at, at + wayMs + apartMs));
        expect(clock.at(7)).toBe(7 + apartMs + Math.min(...waysMs.slice(-16)));
      }),
    );
  });

  it('follows a clock that was set forward', () => {
    const clock = createServerClock();
    clock.note(0, 1_000);
    for (let answer = 0; answer < 16; answer += 1) clock.note(0, 61_000);
    expect(clock.at(0)).toBe(61_000);
  });
});
