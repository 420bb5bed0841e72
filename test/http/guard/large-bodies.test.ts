import { describe, expect, it } from 'vitest';

import { largeBodies } from '../../../src/http/guard/large-bodies.js';

describe('the places for large bodies', () => {
  const req = (headers: Record<string, string>) => ({ headers }) as never;
  const large = req({ 'content-length': '2000000' });

  it('are few, and are given back', () => {
    const places = largeBodies();
    const leave = Array.from({ length: 8 }, () => places.enter(large));
    expect(() => places.enter(large)).toThrow(expect.objectContaining({ code: 'BUSY', retryAfter: 1 }) as Error);
    expect(() => places.enter(req({ 'transfer-encoding': 'chunked' }))).toThrow();
    places.enter(req({ 'content-length': '1048576' }))();
    places.enter(req({}))();
    leave[3]?.();
    places.enter(large);
  });
});
