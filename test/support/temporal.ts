import { type ShardSettings, TemporalProcessRuntime } from '../../src/adapters/temporal/process-runtime.js';
import { loadWorkflowBundle } from '../../src/adapters/temporal/bundle.js';
import type { ProcessWorkerOptions } from '../../src/adapters/temporal/create-workers.js';
import type { TemporalAddress } from '../../src/adapters/temporal/names.js';
import { type ProcessWorker, startProcessWorker } from '../../src/adapters/temporal/worker.js';
import { systemClock } from '../../src/adapters/system/clock.js';
import { systemRandom } from '../../src/adapters/system/random.js';
import type { ProcessWithEffects } from '../../src/kernel/processes/process-effects.js';
import { StreamWriters } from '../../src/kernel/streams/stream-writers.js';
import { ProcessRepository } from '../../src/kernel/processes/process-repository.js';
import type { EventStore } from '../../src/ports/event-store.js';
import type { Log } from '../../src/ports/log.js';

/** A runtime and its worker, as two roles in one program. */
export type OpenTemporalRuntime = AsyncDisposable & {
  readonly runtime: TemporalProcessRuntime;
  readonly worker: ProcessWorker;
};

const bundles = new Map<boolean, ReturnType<typeof loadWorkflowBundle>>();
const bundleFor = (encrypts: boolean): ReturnType<typeof loadWorkflowBundle> => {
  const bundle = bundles.get(encrypts) ?? loadWorkflowBundle(encrypts);
  bundles.set(encrypts, bundle);
  return bundle;
};

export const quiet: Log = {
  isLevelEnabled: () => false,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** Starts both on one store. Each start has new caches, as a restarted program has. */
export const startTemporalRuntime = async (
  at: TemporalAddress,
  events: EventStore,
  processes: Readonly<Record<string, ProcessWithEffects>>,
  shards: ShardSettings = { count: 1, processes: [] },
  { log = quiet, bundle }: { readonly log?: Log; readonly bundle?: ProcessWorkerOptions['bundle'] } = {},
): Promise<OpenTemporalRuntime> => {
  const writers = new StreamWriters(events, systemClock, { shared: true });
  const repository = new ProcessRepository(events, { shared: true });
  const deps = { writers, repository, processes, clock: systemClock, random: systemRandom };
  const worker = startProcessWorker({
    ...at,
    deps,
    events,
    log,
    bundle: bundle ?? (await bundleFor(at.payloads?.encrypts ?? false)),
    abrupt: true,
  });
  const runtime = new TemporalProcessRuntime({ ...at, ...deps, shards, events, logger: quiet });
  await worker.started;
  await runtime.start();
  return {
    runtime,
    worker,
    [Symbol.asyncDispose]: async () => {
      await runtime[Symbol.asyncDispose]();
      await worker[Symbol.asyncDispose]();
    },
  };
};
