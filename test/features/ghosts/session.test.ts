import { describe, expect, it } from 'vitest';

import { beginSession, beginStep, settingOf } from '../../../src/features/ghosts/session.js';
import { generateLevel } from '../../../src/features/levels/domain/generate.js';
import type { Level } from '../../../src/features/levels/domain/level.js';
import { allSlices } from '../../support/rules.js';

const base = generateLevel('a place', 3);

/** As many things around the start as a ghost can see, all with names of this length. */
const crowded = (unit: string, length: number): Level => {
  const free = base.rows.flatMap((row, y) =>
    [...row].flatMap((sign, x) =>
      sign === '.' && Math.abs(x - base.spawn.x) + Math.abs(y - base.spawn.y) <= 5 ? [{ x, y }] : [],
    ),
  );
  const items = Array.from({ length: 40 }, (_, item) => ({
    ...{ id: `${unit.repeat(length)}${String(item)}`, at: free[item % free.length] ?? base.spawn },
    ...{ opens: [], heals: 0, consumed: false },
  }));
  return { ...base, items };
};

describe('the prompt of a ghost that an engine plays', () => {
  it.each([
    ['a', 124],
    ['夢', 60],
    ['夢', 100],
  ])('contains its surroundings even if many things have names like %s, %i times', (unit, length) => {
    const level = crowded(unit, length);
    const setting = settingOf(level, { goal: 'complete_level', seed: 1, steps: 10, engine: 'fake' });
    const { asked } = allSlices(beginStep(setting, beginSession(setting))).result;
    expect(asked.prompt).toMatch(/"surroundings":\{"rows":\[.*\],"ways":\[.*\]\}/);
  });
});
