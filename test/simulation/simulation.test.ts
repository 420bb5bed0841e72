import { describe, expect, it } from 'vitest';

import { runs } from '../support/long.js';
import { explore, kindOf } from './explore.js';
import { drawSchedule } from './schedule.js';
import { simulate } from './simulate.js';

/** Seeds of long runs that failed before a defect was fixed. */
const FAILED_ONCE = [526, 906];
/** `npm run simulate` runs more of them. */
const SEEDS = [...Array.from({ length: runs(24, 1_000) }, (_, seed) => seed), ...FAILED_ONCE];
const LIMIT_MS = 600_000;

describe('servers in virtual time', () => {
  for (const mode of ['shared', 'alone'] as const) {
    for (const faulty of [false, true]) {
      const seeds = SEEDS.filter((seed) => kindOf(seed).mode === mode && kindOf(seed).faulty === faulty);
      const name = `keep all promises, ${mode === 'shared' ? 'in parallel' : 'one at a time'}, ${faulty ? 'with faults' : 'without faults'}`;
      it(name, { timeout: LIMIT_MS }, async () => {
        for (const seed of seeds) expect((await explore(seed)).failure, 'a seed that fails').toBeNull();
      });
    }
  }

  it('behave the same for the same seed', async () => {
    const schedule = drawSchedule(0, kindOf(0));
    expect(await simulate(schedule)).toEqual(await simulate(schedule));
  });
});
