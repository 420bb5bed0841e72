import { describe, expect, it } from 'vitest';

import { advance, type AdvanceDeps } from '../../activities/advance.js';
import { MemoryEventStore } from '../support/memory/event-store.js';
import { findBreak } from '../support/find-break.js';
import { StreamWriters } from '../../src/kernel/streams/stream-writers.js';
import { ProcessRepository } from '../../src/kernel/processes/process-repository.js';
import { DECIDE_ATTEMPTS } from '../../src/kernel/streams/attempts.js';
import { makeProcessId } from '../../src/kernel/crypto/process-id.js';
import { Rejection } from '../../src/kernel/base/rejection.js';
import type { EventStore } from '../../src/ports/event-store.js';
import type { ProcessInput, ProcessRef } from '../../src/ports/process-runtime.js';
import { ManualClock } from '../support/manual-clock.js';
import { race, raceEffects } from '../support/relay-race.js';
import { eventsOf, noState, onBehalf, storeWith, STREAM } from '../support/streams.js';

const ref: ProcessRef = { process: race.name, id: makeProcessId('r', -1, 0, 'command'), stream: STREAM };
const DUE = '2026-01-01T00:15:00.000Z';
const start: ProcessInput = { type: 'start', raceId: ref.id, deadlineAt: DUE };
const delivered: ProcessInput = { type: 'delivered', parcel: 'parcel' };

/** A server on a store. Two servers on the same store race. */
const serverOn = (store: EventStore) => {
  const effects = raceEffects({ deliver: () => Promise.resolve('parcel'), ran: [] });
  const deps: AdvanceDeps = {
    writers: new StreamWriters(store, new ManualClock()),
    repository: new ProcessRepository(store),
    processes: { [race.name]: effects },
  };
  let commands = 0;
  return {
    deps,
    advance: (...inputs: ProcessInput[]) => advance(deps, ref, inputs, onBehalf(`command-${commands++}`)),
  };
};
const typesOf = async (store: EventStore): Promise<string[]> => (await eventsOf(store)).map(({ type }) => type);

describe('one step of a process', () => {
  it('records everything its inputs cause in one append', async () => {
    const store = new MemoryEventStore();
    const appended: number[] = [];
    const append: EventStore['append'] = (stream, expected, events) => {
      appended.push(events.length);
      return store.append(stream, expected, events);
    };
    const step = await serverOn(storeWith(store, { append })).advance(start, delivered);
    expect(step).toMatchObject({ answer: { name: 'delivered' }, revision: 1, position: 2 });
    expect(appended).toEqual([2]);
  });

  it('marks the process in an event only when what the runtime waits for changes', async () => {
    const store = new MemoryEventStore();
    const server = serverOn(store);
    await server.advance(start);
    await server.advance(delivered);
    await server.advance({ type: 'finish' });
    const open = { name: race.name, id: ref.id, open: true, due: DUE };
    expect((await eventsOf(store)).map(({ meta }) => meta.process)).toEqual([
      open,
      undefined,
      { ...open, open: false, due: null },
    ]);
    expect(await store.openProcesses()).toEqual([]);
  });

  it('answers from the record, without a second event, when another server took the step first', async () => {
    const store = new MemoryEventStore();
    const [mine, other] = [serverOn(store), serverOn(store)];
    await mine.advance(start);
    expect((await other.advance(delivered)).state.name).toBe('delivered');
    const late = await mine.advance({ type: 'delivered', parcel: 'another' }, { type: 'finish' });
    expect(late.state).toMatchObject({ name: 'finished', parcel: 'parcel' });
    expect(await typesOf(store)).toEqual(['RaceStarted', 'RaceDelivered', 'RaceFinished']);
    expect(findBreak(await eventsOf(store))).toBeNull();
  });

  it('makes the same event ids on every server', async () => {
    const idsOf = async (): Promise<string[]> => {
      const store = new MemoryEventStore();
      await serverOn(store).advance(start);
      return (await eventsOf(store)).map(({ id }) => id);
    };
    expect(await idsOf()).toEqual(await idsOf());
  });

  it('gives up when others keep writing, reports that a retry makes sense, and can be retried', async () => {
    const store = new MemoryEventStore();
    let tries = 0;
    const append: EventStore['append'] = (...asked) => {
      tries += 1;
      return tries > DECIDE_ATTEMPTS ? store.append(...asked) : Promise.resolve({ ok: false, actual: 9 });
    };
    const server = serverOn(storeWith(store, { append }));
    await expect(server.advance(start)).rejects.toMatchObject({ code: 'CONFLICT', retryAfter: 1 });
    expect(tries).toBe(DECIDE_ATTEMPTS);
    expect((await server.advance(start)).answer).toMatchObject({ name: 'started' });
  });

  it('fails as a defect when the process does not exist', async () => {
    const { deps } = serverOn(new MemoryEventStore());
    for (const process of ['walk', 'constructor']) {
      await expect(advance(deps, { ...ref, process }, [], onBehalf('x'))).rejects.toThrow(
        `no process is named ${process}`,
      );
    }
  });
});

describe('a refusal', () => {
  it('is based on everything in the stream, including events of another server', async () => {
    const store = new MemoryEventStore();
    const clock = new ManualClock();
    const base = raceEffects({ deliver: () => new Promise(() => undefined), ran: [] });
    /** Accepts a parcel only after two races have begun in the stream. */
    const serverOf = (): AdvanceDeps => ({
      writers: new StreamWriters(store, clock, { shared: true }),
      repository: new ProcessRepository(store, { shared: true }),
      processes: {
        [race.name]: {
          ...base,
          fold: {
            ...noState,
            initial: 0,
            evolve: (begun, { type }) => (begun as number) + (type === 'RaceStarted' ? 1 : 0),
          },
          prepare: ({ id }) => Promise.resolve((begun) => ({ raceId: id, begun })),
          process: {
            ...race,
            transitions: {
              ...race.transitions,
              started: {
                ...race.transitions.started,
                delivered: {
                  to: ['delivered'],
                  emit: (_: unknown, { parcel }: { parcel: string }, facts: { raceId: string; begun: number }) => {
                    if (facts.begun < 2) throw new Rejection('CONFLICT', { message: 'a second race is needed' });
                    return [{ type: 'RaceDelivered', data: { raceId: facts.raceId, parcel } }];
                  },
                },
              },
            },
          },
        },
      },
    });
    const [one, two] = [serverOf(), serverOf()];
    const other = { ...ref, id: makeProcessId('r', -1, 0, 'other') };
    await advance(one, ref, [start], onBehalf('start'));
    await advance(two, other, [{ ...start, raceId: other.id }], onBehalf('start other'));
    const { answer } = await advance(one, ref, [delivered], onBehalf('deliver'));
    expect(answer).toMatchObject({ name: 'delivered' });
  });
});
