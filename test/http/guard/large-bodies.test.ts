import { describe, expect, it } from 'vitest';

import { largeBodies } from '../../../src/http/guard/large-bodies.js';

describe('the places for large bodies', () => {
  const req = (headers: Record<string, string>) => ({ headers }) as never;
  const large = req({ 'content-length': '2000000' });

  it('are few, for one tenant fewer, and are given back', () => {
    const places = largeBodies();
    const busy = expect.objectContaining({ code: 'BUSY', retryAfter: 1 }) as Error;
    const leave = Array.from({ length: 4 }, () => places.enter(large, 'a'));
    expect(() => places.enter(large, 'a')).toThrow(busy);
    for (let taken = 0; taken < 4; taken += 1) places.enter(large, 'b');
    expect(() => places.enter(large, 'c')).toThrow(busy);
    expect(() => places.enter(req({ 'transfer-encoding': 'chunked' }), 'c')).toThrow(busy);
    places.enter(req({ 'content-length': '1048576' }), 'a')();
    places.enter(req({}), 'a')();
    leave[3]?.();
    places.enter(large, 'a');
  });
});
