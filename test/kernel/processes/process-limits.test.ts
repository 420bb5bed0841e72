import { describe, expect, it } from 'vitest';

import { retryDelayMs } from '../../../src/kernel/processes/process-limits.js';

describe('the pauses between attempts at an effect', () => {
  it('grow from a second to 60 s, however often it failed [9.8u]', () => {
    expect([1, 2, 3, 6, 7, 8, 1_000].map(retryDelayMs)).toEqual([1_000, 2_000, 4_000, 32_000, 60_000, 60_000, 60_000]);
  });
});
