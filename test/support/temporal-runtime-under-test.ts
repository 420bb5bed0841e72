import { randomBytes } from 'node:crypto';

import type { TemporalAddress } from '../../src/adapters/temporal/names.js';
import type { OpenRuntime } from '../contracts/process-runtime.js';
import { faulty } from './faulty-store.js';
import { MemoryEventStore } from './memory/event-store.js';
import { startTemporalRuntime } from './temporal.js';

const address = process.env['TEMPORAL_ADDRESS'] ?? '';
const temporalNamespace = process.env['TEMPORAL_NAMESPACE'] ?? 'default';

/** Supplies the runtime on Temporal to the suite of its port, in its own namespace. @param payloads null: Temporal may read them */
export const temporalRuntimeUnderTest =
  (payloads: TemporalAddress['payloads'] | null): OpenRuntime =>
  async ({ processes, fault }) => {
    const namespace = `test-${randomBytes(6).toString('hex')}`;
    const at = { address, temporalNamespace, namespace, ...(payloads ? { payloads } : {}) };
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
  };
