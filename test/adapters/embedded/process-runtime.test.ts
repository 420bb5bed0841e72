import { pino } from 'pino';
import { describe, expect, it } from 'vitest';

import { EmbeddedProcessRuntime } from '../../../src/adapters/embedded/process-runtime.js';
import { MemoryEventStore } from '../../support/memory/event-store.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import { ProcessRepository } from '../../../src/kernel/processes/process-repository.js';
import type { ProcessWithEffects } from '../../../src/kernel/processes/process-effects.js';
import { makeProcessId } from '../../../src/kernel/crypto/process-id.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import { npcStream } from '../../../src/kernel/base/stream-names.js';
import type { ProcessRef } from '../../../src/ports/process-runtime.js';
import type { EventStore } from '../../../src/ports/event-store.js';
import { type AppendFault, processRuntimeContract } from '../../contracts/process-runtime.js';
import { faulty } from '../../support/faulty-store.js';
import { rememberingLog } from '../../support/http.js';
import { ManualClock } from '../../support/manual-clock.js';
import { race, raceEffects, type RaceEffects } from '../../support/relay-race.js';
import { seededRandom } from '../../support/seeded-random.js';
import { eventsOf } from '../../support/streams.js';

processRuntimeContract('embedded', async ({ processes, fault }) => {
  const clock = new ManualClock();
  const store = new MemoryEventStore();
  const events = faulty(store, fault);
  const start = async (): Promise<EmbeddedProcessRuntime> => {
    const runtime = new EmbeddedProcessRuntime({
      events,
      clock,
      random: seededRandom('engine'),
      logger: pino({ level: 'silent' }),
      writers: new StreamWriters(events, clock),
      repository: new ProcessRepository(events),
      processes,
    });
    await runtime.start();
    return runtime;
  };
  let runtime = await start();
  return {
    runtime,
    store,
    nowMs: () => clock.now().getTime(),
    soonMs: 60_000,
    advance: (ms) => clock.advance(ms),
    restart: async () => {
      await runtime[Symbol.asyncDispose]();
      runtime = await start();
      return runtime;
    },
    dispose: () => runtime[Symbol.asyncDispose](),
  };
});

describe('The embedded runtime', () => {
  const stream = npcStream('studio', 'runner');
  const by = { tenant: 'studio', actor: 'key', commandId: 'c', correlationId: 'c', causationId: null };

  /** A runtime with one started race that is due after a minute. */
  const started = async (host: Partial<ProcessWithEffects>) => {
    const clock = new ManualClock();
    const store = new MemoryEventStore();
    const fault: AppendFault = { at: 'none' };
    const gate = { reads: Promise.resolve(), count: 0 };
    const events: EventStore = {
      ...faulty(store, fault),
      read: async (...args) => {
        gate.count += 1;
        await gate.reads;
        return store.read(...args);
      },
    };
    const effects: RaceEffects = { deliver: () => new Promise(() => undefined), ran: [] };
    const log = rememberingLog();
    const open = () =>
      new EmbeddedProcessRuntime({
        events,
        clock,
        random: seededRandom('engine'),
        logger: log,
        writers: new StreamWriters(events, clock),
        repository: new ProcessRepository(events),
        processes: { [race.name]: { ...raceEffects(effects), ...host } },
      });
    const runtime = open();
    const ref: ProcessRef = { process: race.name, id: makeProcessId('r', -1, clock.now().getTime(), 'start'), stream };
    const beganMs = clock.now().getTime();
    const deadlineAt = new Date(beganMs + 60_000).toISOString();
    const start = () => runtime.ask(ref, [{ type: 'start', raceId: ref.id, deadlineAt }], by);
    const types = async () => (await eventsOf(store, stream)).map(({ type }) => type);
    const sinceMs = () => clock.now().getTime() - beganMs;
    return { clock, effects, runtime, fault, gate, log, open, ref, start, sinceMs, types };
  };

  it('retries a failing effect after 1, 2, 4, 8 seconds', async () => {
    const at: number[] = [];
    const { clock, effects, runtime, start, sinceMs } = await started({});
    effects.deliver = () => {
      at.push(sinceMs());
      return Promise.reject(new Error('the road is closed'));
    };
    await start();
    await clock.advance(0);
    for (let second = 0; second < 16; second += 1) await clock.advance(1_000);
    expect(at).toEqual([0, 1_000, 3_000, 7_000, 15_000]);
    await runtime[Symbol.asyncDispose]();
  });

  it.each([
    ['a server that is away', new Rejection('CORTEX_UNAVAILABLE', { retryAfter: 1 }), ['warn']],
    ['a defect', new Error('undefined is not a road'), ['error']],
  ])('logs a failing effect as %s', async (_, failure, levels) => {
    const { clock, effects, runtime, log, start } = await started({});
    effects.deliver = () => Promise.reject(failure);
    await start();
    await clock.advance(0);
    const lines = log.lines.filter(({ message }) => message.startsWith('Process step failed'));
    expect(lines.map(({ level }) => level)).toEqual(levels);
    expect(Object.keys(lines[0]?.fields ?? {}).includes('err')).toBe(levels[0] === 'error');
    await runtime[Symbol.asyncDispose]();
  });

  it('finds the pending effect of an open process from its state alone: a start runs no steps', async () => {
    let steps = 0;
    const { clock, effects, runtime, open, start } = await started({
      prepare: (of) => {
        steps += 1;
        return Promise.resolve(() => ({ raceId: of.id }));
      },
    });
    await start();
    await runtime[Symbol.asyncDispose]();
    steps = 0;
    effects.ran.length = 0;
    const next = open();
    await next.start();
    await clock.advance(0);
    expect(effects.ran).toEqual(['deliver']);
    expect(steps).toBe(0);
    await next[Symbol.asyncDispose]();
  });

  it('does not fold open processes without effects at startup, and still acts on their deadlines', async () => {
    const calm: Partial<typeof race> = { ...race };
    delete calm.pending;
    const { clock, runtime, gate, open, start, types } = await started({ process: calm as typeof race });
    await start();
    await runtime[Symbol.asyncDispose]();
    const next = open();
    gate.count = 0;
    await next.start();
    await clock.advance(0);
    expect(gate.count).toBe(0);
    await clock.advance(61_000);
    expect(await types()).toContain('RaceGivenUp');
    await next[Symbol.asyncDispose]();
  });

  it('backs off from a deadline in a stream that only a newer server can read, even if the process is queried', async () => {
    const at: number[] = [];
    const { clock, runtime, ref, start, sinceMs } = await started({
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
      // Callers in the meantime do not shorten the pause.
      await runtime.ask(ref, [], by);
    }
    expect(at).toEqual([60_000, 61_000, 63_000, 67_000, 75_000]);
    await runtime[Symbol.asyncDispose]();
  });

  it('acts on the deadline of a step that was appended although its answer was lost', async () => {
    const { clock, runtime, fault, start, types } = await started({});
    fault.at = 'after';
    await expect(start()).rejects.toThrow('killed after the append');
    fault.at = 'none';
    await clock.advance(61_000);
    expect(await types()).toContain('RaceGivenUp');
    await runtime[Symbol.asyncDispose]();
  });

  it('retries a deadline that the transition table ignores after 1, 2, 4, 8 seconds', async () => {
    const at: number[] = [];
    const { clock, runtime, start, sinceMs } = await started({
      process: {
        ...race,
        transitions: { ...race.transitions, started: { ...race.transitions.started, deadline: 'ignore' } },
      },
      prepare: (of, _, inputs) => {
        if (inputs[0]?.type === 'deadline') at.push(sinceMs());
        return Promise.resolve(() => ({ raceId: of.id }));
      },
    });
    await start();
    for (let second = 0; second < 76; second += 1) await clock.advance(1_000);
    expect(at).toEqual([60_000, 61_000, 63_000, 67_000, 75_000]);
    await runtime[Symbol.asyncDispose]();
  });

  it('keeps the current actor of a process when the startup scan finishes late', async () => {
    // No deadline, and an effect only after delivery: until then the process waits for nothing.
    const { clock, effects, open, runtime, gate, ref, start } = await started({
      process: {
        ...race,
        deadline: () => null,
        pending: ({ name }: { name: string }) =>
          name === 'delivered' ? { id: 'deliver', name: 'deliver', args: {} } : null,
      },
    });
    const other = { ...ref, id: makeProcessId('r', -1, clock.now().getTime(), 'other') };
    const beginOther = { type: 'start', raceId: other.id, deadlineAt: '2027-01-01T00:00:00.000Z' };
    await runtime.ask(other, [beginOther], { ...by, commandId: 'other' });
    await start();
    await runtime[Symbol.asyncDispose]();
    const next = open();
    let release: () => void = () => undefined;
    gate.reads = new Promise((resolve) => (release = resolve));
    await next.start();
    gate.reads = Promise.resolve();
    await next.ask(ref, [], by);
    await next.ask(ref, [{ type: 'delivered', parcel: 'by hand' }], by);
    await clock.advance(0);
    release();
    await clock.advance(0);
    await next.ask(ref, [], by);
    await clock.advance(0);
    expect(effects.ran).toEqual(['deliver']);
    await next[Symbol.asyncDispose]();
  });
});
