import { describe, expect, it } from 'vitest';

import { type RunnableWorker, runTogether, stopAll } from '../../../src/adapters/temporal/run-together.js';

/** A worker that runs until it is stopped, or until `fail` is called. */
const openWorker = () => {
  let state: ReturnType<RunnableWorker['getState']> = 'INITIALIZED';
  let end: () => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const worker: RunnableWorker = {
    getState: () => state,
    run: () => {
      state = 'RUNNING';
      return new Promise<void>((resolve, reject) => {
        end = resolve;
        fail = reject;
      }).finally(() => (state = 'STOPPED'));
    },
    shutdown: () => {
      if (state !== 'RUNNING') throw new Error('not running');
      state = 'STOPPING';
      setImmediate(end);
    },
  };
  return { worker, fail: (error: Error) => fail(error) };
};

describe('workers that run together', () => {
  it('all stop when one fails, and only then is the failure reported', async () => {
    const [one, other] = [openWorker(), openWorker()];
    const running = runTogether([one.worker, other.worker]);
    one.fail(new Error('the server is gone'));
    await expect(running).rejects.toThrow('the server is gone');
    expect(other.worker.getState()).toBe('STOPPED');
  });

  it('stop on request, also twice and before they run', async () => {
    const workers = [openWorker().worker, openWorker().worker];
    stopAll(workers);
    const running = runTogether(workers);
    stopAll(workers);
    stopAll(workers);
    await expect(running).resolves.toBeUndefined();
    expect(workers.map((worker) => worker.getState())).toEqual(['STOPPED', 'STOPPED']);
  });
});
