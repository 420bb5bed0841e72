import { describe, expect, it } from 'vitest';

import { calibrated } from '../../src/ports/calibrated.js';

describe('a calibrated cosine', () => {
  it('is 0.5 at the threshold for related texts, and linear to 0 and 1 from there', () => {
    expect([-1, 0, 0.1, 0.2, 0.4, 0.7, 1].map((cosine) => calibrated(cosine, 0.4))).toEqual([
      0, 0, 0.125, 0.25, 0.5, 0.75, 1,
    ]);
  });

  it('stays within 0 and 1 when rounding brings a cosine above 1', () => {
    expect(calibrated(1.000_001, 0.9)).toBe(1);
  });
});
