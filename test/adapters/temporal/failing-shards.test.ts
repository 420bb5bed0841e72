import { describe, expect, it } from 'vitest';

import { FailingShards } from '../../../src/adapters/temporal/failing-shards.js';
import { ManualClock } from '../../support/manual-clock.js';

const shards = [0, 1].map((index) => ({ index, count: 2, processes: ['turn'] }));
const SWEEP_MS = 60_000;

/** Shards of which the second fails; records what is done to it. */
const watched = () => {
  const clock = new ManualClock();
  const notes: string[] = [];
  const failsAt: number[] = [];
  const task = { runId: 'run 1', attempt: 4 };
  const failing = new FailingShards({
    clock,
    logger: { warn: (_, message) => notes.push(message) },
    workflows: {
      attemptOf: async ({ index }) => {
        if (failsAt.includes(index)) throw new Error('Temporal does not say');
        return index === 0 ? null : { ...task };
      },
      terminate: ({ index }, runId) => Promise.resolve(void notes.push(`terminate ${String(index)} ${runId}`)),
      look: ({ index }) => Promise.resolve(void notes.push(`look ${String(index)}`)),
    },
  });
  const lookAfter = async (ms: number): Promise<readonly string[]> => {
    await clock.advance(ms);
    await failing.renew(shards);
    return notes.splice(0);
  };
  return { task, failsAt, lookAfter };
};

describe('the workflow of a shard whose task fails', () => {
  it('is restarted, and logged, once its run has been failing for a while', async () => {
    const { task, lookAfter } = watched();
    expect(await lookAfter(0)).toEqual([]);
    task.attempt = 7;
    expect(await lookAfter(SWEEP_MS)).toEqual([
      'Restarting the workflow of a shard because its task keeps failing',
      'terminate 1 run 1',
      'look 1',
    ]);
  });

  it('is left alone if it failed only a few times, or recovers between two checks', async () => {
    const { task, lookAfter } = watched();
    task.attempt = 3;
    expect(await lookAfter(0)).toEqual([]);
    expect(await lookAfter(SWEEP_MS)).toEqual([]);
    task.attempt = 4;
    expect(await lookAfter(SWEEP_MS)).toEqual([]);
    task.attempt = 1;
    expect(await lookAfter(SWEEP_MS)).toEqual([]);
    task.attempt = 4;
    expect(await lookAfter(SWEEP_MS)).toEqual([]);
  });

  it('is logged if it cannot be inspected, and the others are still inspected', async () => {
    const { task, failsAt, lookAfter } = watched();
    failsAt.push(0);
    task.attempt = 4;
    expect(await lookAfter(0)).toEqual(['Cannot inspect the workflow of a shard']);
    expect(await lookAfter(SWEEP_MS)).toContain('terminate 1 run 1');
  });

  it('is left alone if another run fails now, or it was inspected a moment ago', async () => {
    const { task, lookAfter } = watched();
    expect(await lookAfter(0)).toEqual([]);
    expect(await lookAfter(5_000)).toEqual([]);
    task.runId = 'run 2';
    expect(await lookAfter(SWEEP_MS)).toEqual([]);
    expect(await lookAfter(SWEEP_MS)).toContain('terminate 1 run 2');
  });
});
