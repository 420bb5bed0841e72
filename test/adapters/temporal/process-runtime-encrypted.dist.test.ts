import { randomBytes } from 'node:crypto';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { systemRandom } from '../../../src/adapters/system/random.js';
import { payloadEncryption } from '../../../src/adapters/temporal/payload-codec.js';
import { processRuntimeContract } from '../../contracts/process-runtime.js';
import { faulty } from '../../support/faulty-store.js';
import { startTemporalRuntime } from '../../support/temporal.js';

const address = process.env['TEMPORAL_ADDRESS'] ?? '';
const temporalNamespace = process.env['TEMPORAL_NAMESPACE'] ?? 'default';
const key = randomBytes(32);
const payloads = payloadEncryption({ encrypting: key, all: [key] }, systemRandom);

processRuntimeContract('Temporal, which is shown nothing', async ({ processes, fault }) => {
  const at = { address, temporalNamespace, namespace: `test-${randomBytes(6).toString('hex')}`, payloads };
  const store = new MemoryEventStore();
  const events = faulty(store, fault);
  let opened = await startTemporalRuntime(at, events, processes);
  return {
    runtime: opened.runtime,
    store,
    nowMs: () => Date.now(),
    soonMs: 2_500,
    advance: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    restart: async () => {
      await opened[Symbol.asyncDispose]();
      opened = await startTemporalRuntime(at, events, processes);
      return opened.runtime;
    },
    dispose: async () => opened[Symbol.asyncDispose](),
  };
});
