import { Worker } from '@temporalio/worker';
import { beforeAll, describe, expect, it } from 'vitest';

import { installRuntime } from '../../../src/adapters/temporal/worker.js';
import { loadWorkflowBundle } from '../../../src/adapters/temporal/bundle.js';
import { dataConverterOf } from '../../../src/adapters/temporal/connection.js';
import { payloadEncryption } from '../../../src/adapters/temporal/payload-codec.js';
import { encryptedHistoryKey } from '../../support/encrypted-history.js';
import { readHistory, recordedHistories } from '../../support/recorded-histories.js';
import { seededRandom } from '../../support/seeded-random.js';
import { quiet } from '../../support/temporal.js';

const histories = recordedHistories('history-').filter((name) => !name.startsWith('history-shard-'));

/** Workflows that were open when this version was installed must continue as they began. */
describe('the durable process workflow, replayed without a server', () => {
  let workflowBundle: Awaited<ReturnType<typeof loadWorkflowBundle>>;
  beforeAll(async () => {
    installRuntime(quiet);
    workflowBundle = await loadWorkflowBundle();
  });

  it('has histories in which processes end, fail, run in the background, are waited for, and continue as new', () => {
    expect(histories).toEqual([
      'history-background.json',
      'history-deadline.json',
      'history-failed-step.json',
      'history-finished.json',
      'history-late-ask.json',
      'history-long-attempt.json.gz',
      'history-outcome.json',
      'history-put-off-result.json',
      'history-signalled-fact.json',
    ]);
  });

  it.each(histories)('replays %s as it was recorded', async (name) => {
    await expect(Worker.runReplayHistory({ workflowBundle }, readHistory(name))).resolves.toBeUndefined();
  });

  it('replays an encrypted one only with its key', async () => {
    const history = readHistory('encrypted-history.json');
    const replay = async (key: Uint8Array): Promise<void> => {
      const payloads = payloadEncryption({ encrypting: key, all: [key] }, seededRandom('replay'));
      const workflowBundle = await loadWorkflowBundle(true);
      await Worker.runReplayHistory({ workflowBundle, dataConverter: dataConverterOf({ payloads }) }, history);
    };
    await expect(replay(encryptedHistoryKey)).resolves.toBeUndefined();
    await expect(replay(new Uint8Array(32))).rejects.toThrow();
  });

  it('detects a history that it would not have made', async () => {
    const { events } = readHistory('history-finished.json');
    const altered = events.filter(({ eventType }) => String(eventType) !== 'EVENT_TYPE_TIMER_STARTED');
    expect(altered.length).toBeLessThan(events.length);
    await expect(Worker.runReplayHistory({ workflowBundle }, { events: altered })).rejects.toThrow();
  });
});
