import { pino } from 'pino';

import { EmbeddedProcessEngine } from '../../../src/adapters/embedded/process-engine.js';
import { MemoryEventStore } from '../../../src/adapters/memory/event-store.js';
import { Lanes } from '../../../src/app/streams/lanes.js';
import { ProcessJournal } from '../../../src/app/processes/process-journal.js';
import { processEngineContract } from '../../contracts/process-engine.js';
import { faulty } from '../../support/faulty-store.js';
import { ManualClock } from '../../support/manual-clock.js';
import { seededRandom } from '../../support/seeded-random.js';

processEngineContract('embedded', async ({ hosts, fault }) => {
  const clock = new ManualClock();
  const store = new MemoryEventStore();
  const events = faulty(store, fault);
  const start = async (): Promise<EmbeddedProcessEngine> => {
    const engine = new EmbeddedProcessEngine({
      events,
      clock,
      random: seededRandom('engine'),
      logger: pino({ level: 'silent' }),
      lanes: new Lanes(events, clock),
      journal: new ProcessJournal(events),
      processes: hosts,
    });
    await engine.start();
    return engine;
  };
  let engine = await start();
  return {
    engine,
    store,
    nowMs: () => clock.now().getTime(),
    soonMs: 60_000,
    advance: (ms) => clock.advance(ms),
    restart: async () => {
      await engine[Symbol.asyncDispose]();
      engine = await start();
      return engine;
    },
    dispose: () => engine[Symbol.asyncDispose](),
  };
});
