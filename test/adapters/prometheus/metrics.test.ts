import { describe, expect, it } from 'vitest';

import { createMetrics } from '../../../src/adapters/prometheus/metrics.js';

describe('the metrics', () => {
  /** The lines with a gauge's value. */
  const figures = async (readings: Record<string, () => Promise<number | null>>) => {
    const metrics = createMetrics(Object.entries(readings).map(([name, read]) => ({ name, help: 'A figure.', read })));
    const scrape = async (): Promise<readonly string[]> =>
      (await metrics.render()).content.split('\n').filter((line) => /^\w+ /.test(line) && line.startsWith('test_'));
    return { scrape };
  };

  it('omit a source that is down, hangs or is missing, and include the rest', async () => {
    const { scrape } = await figures({
      test_read: () => Promise.resolve(7),
      test_zero: () => Promise.resolve(0),
      test_none: () => Promise.resolve(null),
      test_away: () => Promise.reject(new Error('no database')),
      test_hanging: () => new Promise(() => undefined),
    });
    expect(await scrape()).toEqual(['test_read 7', 'test_zero 0']);
  });

  it('never show an old value for one that cannot be read now', async () => {
    const values = [5, null, 6];
    const { scrape } = await figures({ test_read: () => Promise.resolve(values.shift() ?? null) });
    expect([await scrape(), await scrape(), await scrape()]).toEqual([['test_read 5'], [], ['test_read 6']]);
  });
});
