import { pino } from 'pino';
import { describe, expect, it } from 'vitest';

import { EmbeddedProcessEngine } from '../../../src/adapters/embedded/process-engine.js';
import { MemoryEventStore } from '../../../src/adapters/memory/event-store.js';
import { Lanes } from '../../../src/app/streams/lanes.js';
import { ProcessJournal } from '../../../src/app/processes/process-journal.js';
import type { HostedProcess } from '../../../src/app/processes/hosted-process.js';
import { makeProcessId } from '../../../src/domain/shared/process-id.js';
import { Rejection } from '../../../src/domain/shared/rejection.js';
import { npcStream } from '../../../src/domain/shared/stream-names.js';
import type { ProcessRef } from '../../../src/ports/process-engine.js';
import { processEngineContract } from '../../contracts/process-engine.js';
import { faulty } from '../../support/faulty-store.js';
import { ManualClock } from '../../support/manual-clock.js';
import { race, raceHost, type RaceEffects } from '../../support/relay-race.js';
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

describe('The embedded engine', () => {
  const stream = npcStream('studio', 'runner');
  const by = { tenant: 'studio', actor: 'key', commandId: 'c', correlationId: 'c', causationId: null };

  /** An engine with one race that is started, due after a minute. */
  const started = async (host: Partial<HostedProcess>) => {
    const clock = new ManualClock();
    const events = new MemoryEventStore();
    const effects: RaceEffects = { deliver: () => new Promise(() => undefined), ran: [] };
    const open = () =>
      new EmbeddedProcessEngine({
        events,
        clock,
        random: seededRandom('engine'),
        logger: pino({ level: 'silent' }),
        lanes: new Lanes(events, clock),
        journal: new ProcessJournal(events),
        processes: { [race.name]: { ...raceHost(effects), ...host } },
      });
    const engine = open();
    const ref: ProcessRef = { process: race.name, id: makeProcessId('r', -1, clock.now().getTime(), 'start'), stream };
    const beganMs = clock.now().getTime();
    const deadlineAt = new Date(beganMs + 60_000).toISOString();
    const start = () => engine.ask(ref, [{ type: 'start', raceId: ref.id, deadlineAt }], by);
    return { clock, effects, engine, open, ref, start, sinceMs: () => clock.now().getTime() - beganMs };
  };

  it('tries a far effect that keeps failing after 1, 2, 4, 8 seconds', async () => {
    const at: number[] = [];
    const { clock, effects, engine, start, sinceMs } = await started({});
    effects.deliver = () => {
      at.push(sinceMs());
      return Promise.reject(new Error('the road is closed'));
    };
    await start();
    await clock.advance(0);
    for (let second = 0; second < 16; second += 1) await clock.advance(1_000);
    expect(at).toEqual([0, 1_000, 3_000, 7_000, 15_000]);
    await engine[Symbol.asyncDispose]();
  });

  it('takes up what an open process waits for by folding it alone: a start takes no steps', async () => {
    let steps = 0;
    const { clock, effects, engine, open, start } = await started({
      prepare: (of) => {
        steps += 1;
        return Promise.resolve(() => ({ raceId: of.id }));
      },
    });
    await start();
    await engine[Symbol.asyncDispose]();
    steps = 0;
    effects.ran.length = 0;
    const next = open();
    await next.start();
    await clock.advance(0);
    expect(effects.ran).toEqual(['deliver']);
    expect(steps).toBe(0);
    await next[Symbol.asyncDispose]();
  });

  it('backs off from a deadline in a stream that only a newer server can read, though the process can be looked at', async () => {
    const at: number[] = [];
    const { clock, engine, ref, start, sinceMs } = await started({
      prepare: (of, _, inputs) => {
        if (inputs[0]?.type === 'deadline') {
          at.push(sinceMs());
          throw new Rejection('EVENT_VERSION_UNKNOWN', { retryAfter: 1 });
        }
        return Promise.resolve(() => ({ raceId: of.id }));
      },
    });
    await start();
    for (let second = 0; second < 76; second += 1) {
      await clock.advance(1_000);
      // Whoever asks meanwhile does not make it any quicker.
      await engine.ask(ref, [], by);
    }
    expect(at).toEqual([60_000, 61_000, 63_000, 67_000, 75_000]);
    await engine[Symbol.asyncDispose]();
  });
});
