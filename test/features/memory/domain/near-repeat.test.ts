import { describe, expect, it } from 'vitest';

import { nearRepeatOf } from '../../../../src/features/memory/domain/near-repeat.js';

describe('a near-repeat', () => {
  it.each([
    ['Where is my ring?', 'Where is the ring?'],
    ['Where is my ring?', 'WHERE is my ring, Berta?'],
    ['Où est le café?', 'Ou est le cafe ?'],
    ['戒指在哪里？', '我的戒指在哪里？'],
  ])('has most of its words in common: %s, %s [3.8b]', (one, other) => {
    expect(nearRepeatOf(one)(other)).toBe(true);
    expect(nearRepeatOf(other)(one)).toBe(true);
  });

  it.each([
    ['What happened to the mill?', 'Did you know that the mill burned down?'],
    ['Mill?', 'Did you know that the mill burned down?'],
    ['Where is my ring?', ''],
    ['', ''],
    ['?', '!'],
  ])('has not: %s, %s [3.8b]', (one, other) => {
    expect(nearRepeatOf(one)(other)).toBe(false);
    expect(nearRepeatOf(other)(one)).toBe(false);
  });

  it('is recognised quickly in a text of any length', () => {
    expect(nearRepeatOf('a '.repeat(100_000))('a')).toBe(true);
  });
});
