import { pino } from 'pino';

import { EmbeddedProcessEngine } from '../../../src/adapters/embedded/process-engine.js';
import { MemoryEventStore } from '../../../src/adapters/memory/event-store.js';
import { Lanes } from '../../../src/app/lanes.js';
import { ProcessJournal } from '../../../src/app/process-journal.js';
import type { EventStore } from '../../../src/ports/event-store.js';
import { type AppendFault, processEngineContract } from '../../contracts/process-engine.js';
import { ManualClock } from '../../support/manual-clock.js';
import { seededRandom } from '../../support/seeded-random.js';

/** The same store, but an append may die on its way in or on its way out. */
const faulty = (store: EventStore, fault: AppendFault): EventStore => ({
  append: async (...args) => {
    if (fault.at === 'before') throw new Error('killed before the append');
    const outcome = await store.append(...args);
    if (fault.at === 'after') throw new Error('killed after the append');
    return outcome;
  },
  read: (...args) => store.read(...args),
  readAll: (...args) => store.readAll(...args),
  lastPosition: () => store.lastPosition(),
  subscribe: (options) => store.subscribe(options),
  openProcesses: () => store.openProcesses(),
  [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
});

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
    advance: (ms) => clock.advance(ms),
    restart: async () => {
      await engine[Symbol.asyncDispose]();
      engine = await start();
      return engine;
    },
    dispose: () => engine[Symbol.asyncDispose](),
  };
});
