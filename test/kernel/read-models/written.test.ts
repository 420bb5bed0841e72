import { describe, expect, it } from 'vitest';

import { createWritten } from '../../../src/kernel/read-models/written.js';

describe('the last write of a key', () => {
  it('is the furthest position recorded for it, or 0', () => {
    const written = createWritten();
    expect(written.position('one')).toBe(0);
    written.noted('one', 7);
    written.noted('one', 3);
    written.noted('one', 0);
    expect([written.position('one'), written.position('other')]).toEqual([7, 0]);
  });

  it('is dropped for the least recently active key when there are too many', () => {
    const written = createWritten(2);
    written.noted('one', 1);
    written.noted('other', 2);
    written.noted('one', 3);
    written.noted('third', 4);
    expect(['one', 'other', 'third'].map((key) => written.position(key))).toEqual([3, 0, 4]);
  });
});
