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

  it('count things by kind, however many kinds there are', async () => {
    const metrics = createMetrics();
    metrics.count('verdicts', 'valid');
    metrics.count('verdicts', 'valid');
    metrics.count('verdicts', 'refused');
    metrics.count('brokenEvents');
    for (let key = 0; key < 300; key += 1) metrics.count('tooManyRequests', `k${String(key)}`);
    const { content } = await metrics.render();
    expect(content).toContain('anima_verdicts_total{outcome="valid"} 2\n');
    expect(content).toContain('anima_verdicts_total{outcome="refused"} 1\n');
    expect(content).toContain('anima_rule_refusals_total 0\n');
    expect(content).toContain('anima_broken_events_total 1\n');
    expect(content.match(/^anima_too_many_requests_total\{/gm)).toHaveLength(101);
    expect(content).toContain('anima_too_many_requests_total{key="other"} 200\n');
  });

  it('show a figure that only grows as a counter', async () => {
    const values = [5, null, 9];
    const read = () => Promise.resolve(values.shift() ?? null);
    const metrics = createMetrics([{ name: 'test_total', help: 'A count.', isCounter: true, read }]);
    const shown = async () => /^test_total (\d+)$/m.exec((await metrics.render()).content)?.[1];
    expect([await shown(), await shown(), await shown()]).toEqual(['5', undefined, '9']);
    expect((await metrics.render()).content).toContain('# TYPE test_total counter');
  });
});
