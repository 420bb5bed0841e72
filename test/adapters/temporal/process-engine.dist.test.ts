import { randomBytes } from 'node:crypto';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { processEngineContract } from '../../contracts/process-engine.js';
import { faulty } from '../../support/faulty-store.js';
import { startTemporalShell } from '../../support/temporal.js';

const address = process.env['TEMPORAL_ADDRESS'] ?? '';
const temporalNamespace = process.env['TEMPORAL_NAMESPACE'] ?? 'default';

processEngineContract('Temporal', async ({ processes, fault }) => {
  const at = { address, temporalNamespace, namespace: `test-${randomBytes(6).toString('hex')}` };
  const store = new MemoryEventStore();
  const events = faulty(store, fault);
  let shell = await startTemporalShell(at, events, processes);
  return {
    engine: shell.engine,
    store,
    nowMs: () => Date.now(),
    soonMs: 2_500,
    advance: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    restart: async () => {
      await shell[Symbol.asyncDispose]();
      shell = await startTemporalShell(at, events, processes);
      return shell.engine;
    },
    dispose: async () => shell[Symbol.asyncDispose](),
  };
});
