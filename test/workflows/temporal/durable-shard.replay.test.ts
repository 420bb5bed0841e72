import { Worker } from '@temporalio/worker';
import { beforeAll, describe, expect, it } from 'vitest';

import { loadWorkflowBundle } from '../../../src/adapters/temporal/bundle.js';
import { installRuntime } from '../../../src/adapters/temporal/worker.js';
import { readHistory, recordedHistories } from '../../support/recorded-histories.js';
import { quiet } from '../../support/temporal.js';

const histories = recordedHistories('history-shard-');

/** The shard workflow never ends: the one that runs when this version is installed must continue as it began. */
describe('the shard workflow, replayed without a server', () => {
  let workflowBundle: Awaited<ReturnType<typeof loadWorkflowBundle>>;
  beforeAll(async () => {
    installRuntime(quiet);
    workflowBundle = await loadWorkflowBundle();
  });

  it('has histories of batches, deadlines, late asks, found open processes, and a run that continued as new', () => {
    expect(histories).toEqual([
      'history-shard-batches.json',
      'history-shard-deadlines.json',
      'history-shard-found.json',
      'history-shard-late.json',
      'history-shard-long.json.gz',
    ]);
  });

  it.each(histories)('replays %s as it was recorded', async (name) => {
    await expect(Worker.runReplayHistory({ workflowBundle }, readHistory(name))).resolves.toBeUndefined();
  });

  it('detects a history that it would not have made', async () => {
    const { events } = readHistory('history-shard-deadlines.json');
    const altered = events.filter(({ eventType }) => String(eventType) !== 'EVENT_TYPE_TIMER_STARTED');
    expect(altered.length).toBeLessThan(events.length);
    await expect(Worker.runReplayHistory({ workflowBundle }, { events: altered })).rejects.toThrow();
  });
});
