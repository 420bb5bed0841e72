import { CancelledFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';

import { createMetrics } from '../../../src/adapters/prometheus/metrics.js';
import { countWork } from '../../../src/adapters/temporal/count-work.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';

describe('The work of a worker', () => {
  it('is counted by task, process and outcome, and its result is passed through', async () => {
    const metrics = createMetrics();
    const refused = (result: string) => (result === 'no' ? 'refused' : 'done');
    expect(await countWork(metrics, 'step', 'turn', () => Promise.resolve('yes'), refused)).toBe('yes');
    expect(await countWork(metrics, 'step', 'turn', () => Promise.resolve('no'), refused)).toBe('no');
    expect(await countWork(metrics, 'effect', 'agentTurn', () => Promise.resolve(null))).toBeNull();
    const away = new Rejection('CORTEX_UNAVAILABLE', { retryAfter: 5 });
    for (const error of [away, new CancelledFailure('stopped')]) {
      const refusing = countWork(metrics, 'effect', 'agentTurn', () => Promise.reject(error));
      await expect(refusing).rejects.toBe(error);
    }
    const failing = countWork(metrics, 'effect', 'agentTurn', () => Promise.reject(new Error('broken')));
    await expect(failing).rejects.toThrow('broken');
    const { content } = await metrics.render();
    const counts = content
      .split('\n')
      .filter((line) => line.startsWith('anima_worker_task_duration_seconds_count'))
      .sort();
    const count = (task: string, process: string, outcome: string, times = 1) =>
      `anima_worker_task_duration_seconds_count{task="${task}",process="${process}",outcome="${outcome}"} ${String(times)}`;
    expect(counts).toEqual([
      count('effect', 'agentTurn', 'done'),
      count('effect', 'agentTurn', 'failed'),
      count('effect', 'agentTurn', 'refused', 2),
      count('step', 'turn', 'done'),
      count('step', 'turn', 'refused'),
    ]);
  });

  it('is done without metrics too', async () => {
    expect(await countWork(undefined, 'step', 'turn', () => Promise.resolve(1))).toBe(1);
  });
});
