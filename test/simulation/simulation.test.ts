import { describe, expect, it } from 'vitest';

import { explore, kindOf } from './explore.js';
import { drawSchedule } from './schedule.js';
import { simulate } from './simulate.js';

/** Seeds of long runs that failed before a defect was fixed. */
const FAILED_ONCE = [526, 906];
/** The long run is `npm run simulate`. */
const SEEDS = [...Array.from({ length: 300 }, (_, seed) => seed), ...FAILED_ONCE];
const LIMIT_MS = 240_000;

describe('servers in virtual time', () => {
  for (const mode of ['shared', 'alone'] as const) {
    for (const faulty of [false, true]) {
      const seeds = SEEDS.filter((seed) => kindOf(seed).mode === mode && kindOf(seed).faulty === faulty);
      const name = `keep what is promised, ${mode === 'shared' ? 'many at once' : 'one at a time'}, ${faulty ? 'with faults' : 'without any'}`;
      it(name, { timeout: LIMIT_MS }, async () => {
        for (const seed of seeds) expect((await explore(seed)).failure, 'a seed that fails').toBeNull();
      });
    }
  }

  it('do the same for the same seed', async () => {
    const schedule = drawSchedule(0, kindOf(0));
    expect(await simulate(schedule)).toEqual(await simulate(schedule));
  });
});
