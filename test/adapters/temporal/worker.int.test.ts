import { describe, expect, it } from 'vitest';

import { startProcessWorker } from '../../../src/adapters/temporal/worker.js';
import { openBareTemporal } from '../../support/bare-temporal.js';
import { rememberingLog } from '../../support/http.js';

describe('a worker of a Temporal that accepts connections and does not answer', () => {
  it('stops looking for its namespace, and ends on request without becoming a worker', async () => {
    await using server = await openBareTemporal({ silentOn: 'DescribeNamespace' });
    const log = rememberingLog();
    const worker = startProcessWorker({
      address: server.address,
      temporalNamespace: 'default',
      namespace: 'anima',
      deps: {} as never,
      events: {} as never,
      log,
    });
    while (!server.calls.includes('DescribeNamespace')) await new Promise((resolve) => setTimeout(resolve, 5));
    await worker[Symbol.asyncDispose]();
    expect(log.lines).toMatchObject([{ message: 'The worker lost the connection to Temporal; reconnecting' }]);
    expect(server.calls.filter((call) => call.startsWith('Poll'))).toEqual([]);
  });
});
