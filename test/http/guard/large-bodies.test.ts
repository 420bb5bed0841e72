import { describe, expect, it } from 'vitest';

import { largeBodies, MAX_CONTAINERS, MAX_ITEMS, requireModest } from '../../../src/http/guard/large-bodies.js';

const look = (text: string | Uint8Array): number => {
  let slices = 0;
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  for (const _ of requireModest(bytes)) slices += 1;
  return slices;
};
const refusal = expect.objectContaining({ code: 'BODY_TOO_LARGE' }) as Error;

describe('what a large body may hold', () => {
  it('is so many lists and objects, and no more', () => {
    const lists = (count: number): string => `[${'[]'.repeat(count - 1)}]`;
    expect(() => look(lists(MAX_CONTAINERS))).not.toThrow();
    expect(() => look(lists(MAX_CONTAINERS + 1))).toThrow(refusal);
    expect(() => look('{'.repeat(MAX_CONTAINERS + 1))).toThrow(refusal);
  });

  it('is so many values, and no more', () => {
    expect(() => look(`[${'1,'.repeat(MAX_ITEMS)}1]`)).not.toThrow();
    expect(() => look(`[${'1,'.repeat(MAX_ITEMS + 1)}1]`)).toThrow(refusal);
  });

  it('does not count what stands in texts, wherever a slice ends', () => {
    for (const shift of [0, 1, 2, 3]) {
      const text = `${' '.repeat(shift)}["${'\\"[,{'.repeat(1_500_000)}", "\\\\", []]`;
      expect(look(text), String(shift)).toBeGreaterThan(10);
    }
  });

  it('is looked at in slices', () => {
    expect(look(Buffer.alloc(16 * 1024 * 1024, 0x20))).toBe(32);
  });
});

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
