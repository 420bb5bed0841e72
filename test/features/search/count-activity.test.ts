import { describe, expect, it } from 'vitest';

import { activity } from '../../../projections/activity.js';
import { countActivity } from '../../../src/features/search/count-activity.js';
import { spanOf } from '../../../src/features/search/domain/activity-span.js';
import { ManualClock } from '../../support/manual-clock.js';
import { MemoryReadModels } from '../../support/memory/read-models.js';

const DAY = '2026-01-01';
const span = spanOf(Date.parse(`${DAY}T00:00:00Z`), Date.parse(`${DAY}T04:00:00Z`), 2);
const hour = (number: number): string => `${DAY}T0${String(number)}`;

const counting = async (...counts: readonly (readonly [hour: number, name: string, count: number])[]) => {
  const readModels = new MemoryReadModels(new ManualClock());
  const build = await readModels.open(activity);
  await readModels.commit(build, {
    ...{ put: [], remove: [], progress: [], parked: [], position: 0 },
    counts: counts.map(([at, name, count]) => ({ partition: 'p', place: hour(at), name, count })),
  });
  return countActivity({ readModels }, 'p', span);
};

describe('Activity', () => {
  it('is summed up by bucket, and its refusals by rule [10.14a, 10.14b, 10.14d]', async () => {
    const counted = await counting(
      [0, 'turns', 3],
      [1, 'turns', 4],
      [1, 'refusals', 2],
      [1, 'rule peace', 1],
      [3, 'refusals', 5],
      [3, 'rule peace', 1],
      [3, 'rule theft', 3],
      [4, 'turns', 100],
    );
    expect(counted).toEqual({
      turns: 7,
      refusals: 7,
      buckets: [
        { at: `${DAY}T00:00:00.000Z`, turns: 7, refusals: 2 },
        { at: `${DAY}T02:00:00.000Z`, turns: 0, refusals: 5 },
      ],
      rules: [
        { drRuleId: 'theft', refusals: 3, buckets: [0, 3] },
        { drRuleId: 'peace', refusals: 2, buckets: [1, 1] },
      ],
      otherRefusals: 2,
    });
  });

  it('names the 20 rules that refused most, however many there are [10.14b]', async () => {
    const rules = Array.from(
      { length: 5_000 },
      (_, at) => [0, `rule r${String(at).padStart(4, '0')}`, (at % 900) + 1] as const,
    );
    const { rules: named, otherRefusals } = await counting([0, 'refusals', 10_000_000], ...rules);
    expect(named.map(({ refusals }) => refusals)).toEqual([
      ...[900, 899, 898, 897, 896, 895, 894, 893, 892, 891, 890, 889, 888, 887, 886, 885, 884, 883, 882, 881],
    ]);
    expect(otherRefusals).toBe(10_000_000 - named.reduce((all, { refusals }) => all + refusals, 0));
  });
});
