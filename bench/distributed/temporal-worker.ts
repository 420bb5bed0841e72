import { fileURLToPath } from 'node:url';

import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker } from '@temporalio/worker';

import { EventStoreDb } from '../../src/adapters/eventstore/event-store.js';
import { installRuntime, startProcessWorker } from '../../src/adapters/temporal/worker.js';
import { EmbeddedEventStore } from '../../src/adapters/embedded/event-store.js';
import { systemClock } from '../../src/adapters/system/clock.js';
import { systemRandom } from '../../src/adapters/system/random.js';
import { StreamWriters } from '../../src/kernel/streams/stream-writers.js';
import { ProcessRepository } from '../../src/kernel/processes/process-repository.js';
import { openRulesets } from '../../src/features/rules/rulesets.js';
import { turnEffects } from '../../activities/effects/turn.js';
import { createLogger } from '../../src/config/logger.js';
import type { EventStore } from '../../src/ports/event-store.js';
import { turn } from '../../workflows/turn/turn.js';
import { addresses } from './addresses.js';
import { bareActivities } from './bare-activities.js';

/**
 * The workers of the step measurement, in a separate process: turns on EventStoreDB, turns on an event store in memory, and the bare workflows. At
 * any time only one of them has work.
 */
const serve = async (namespace: string): Promise<void> => {
  const { EVENTSTORE_URL, TEMPORAL_ADDRESS } = addresses();
  const log = createLogger('warn', process.stderr, false);
  const startTurns = (own: string, events: EventStore) => {
    const writers = new StreamWriters(events, systemClock, { shared: true });
    const repository = new ProcessRepository(events, { shared: true });
    const signingKeys = { current: { kid: 'bench' } } as Parameters<typeof turnEffects>[0]['signingKeys'];
    const host = turnEffects({ rulesets: openRulesets(writers, events), signingKeys, issuer: 'http://127.0.0.1:8080' });
    const deps = {
      writers,
      repository,
      processes: { [turn.name]: { ...host, process: turn } },
      clock: systemClock,
      random: systemRandom,
    };
    return startProcessWorker({
      address: TEMPORAL_ADDRESS,
      temporalNamespace: 'default',
      namespace: own,
      deps,
      events,
      log,
    });
  };
  installRuntime(log);
  const whole = new EventStoreDb({
    url: EVENTSTORE_URL,
    namespace: `${namespace}-whole`,
    listOpen: () => Promise.resolve([]),
  });
  const ours = [
    startTurns(`${namespace}-whole`, whole),
    startTurns(`${namespace}-runtime`, EmbeddedEventStore.open(':memory:')),
  ];
  const connection = await NativeConnection.connect({
    address: TEMPORAL_ADDRESS,
    grpcCompression: { codec: 'none' },
  });
  const bare = await Worker.create({
    connection,
    taskQueue: `${namespace}-bare`,
    workflowBundle: await bundleWorkflowCode({
      workflowsPath: fileURLToPath(new URL('./bare-workflows.js', import.meta.url)),
      logger: new DefaultLogger('ERROR'),
    }),
    activities: bareActivities,
    maxCachedWorkflows: 5_000,
    maxConcurrentWorkflowTaskExecutions: 200,
    maxConcurrentLocalActivityExecutions: 200,
  });
  void bare.run();
  await Promise.all(ours.map(({ started }) => started));
  console.log(JSON.stringify({ msg: 'serving', url: `http://${TEMPORAL_ADDRESS}` }));
};

await serve(process.env['BENCH_NAMESPACE'] ?? '');
