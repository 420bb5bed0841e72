import { describe, expect, it } from 'vitest';

import { advance } from '../../../activities/advance.js';
import { MemoryEventStore } from '../../support/memory/event-store.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import { ProcessRepository } from '../../../src/kernel/processes/process-repository.js';
import { makeProcessId } from '../../../src/kernel/crypto/process-id.js';
import { npcStream } from '../../../src/kernel/base/stream-names.js';
import type { ProcessInput, ProcessRef } from '../../../src/ports/process-runtime.js';
import { ManualClock } from '../../support/manual-clock.js';
import { race, raceEffects, type RaceEffects } from '../../support/relay-race.js';

const stream = npcStream('studio', 'runner');
const by = { tenant: 'studio', actor: 'key', commandId: 'c', correlationId: 'c', causationId: null };

/** Several servers on one store, each with its own cache. */
const servers = () => {
  const clock = new ManualClock();
  const store = new MemoryEventStore();
  const effects: RaceEffects = { deliver: () => Promise.resolve('parcel'), ran: [] };
  const open = () => {
    const repository = new ProcessRepository(store, { shared: true });
    const writers = new StreamWriters(store, clock, { shared: true });
    const deps = { repository, writers, processes: { [race.name]: raceEffects(effects) } };
    return {
      repository,
      writers,
      ask: (ref: ProcessRef, ...inputs: readonly ProcessInput[]) => advance(deps, ref, inputs, by),
    };
  };
  const id = makeProcessId('r', -1, 0, 'start');
  const ref: ProcessRef = { process: race.name, id, stream };
  const start: ProcessInput = { type: 'start', raceId: id, deadlineAt: '2026-01-01T01:00:00.000Z' };
  const delivered: ProcessInput = { type: 'delivered', parcel: 'parcel' };
  const types = async () =>
    (await store.read(stream, { direction: 'forwards', limit: 100 })).events.map(({ type }) => type);
  return { open, ref, start, delivered, types, store };
};

describe('several servers on one store', () => {
  it('answer an input without effect from the records of others', async () => {
    const { open, ref, start, delivered } = servers();
    const [one, other] = [open(), open()];
    await one.ask(ref, start);
    await other.ask(ref, start);
    await one.ask(ref, delivered);
    const { answer, revision } = await other.ask(ref, start);
    expect(answer).toEqual({ name: 'delivered' });
    expect(revision).toBe(1);
  });

  it('record a step once, whichever server runs it and however stale the others are', async () => {
    const { open, ref, start, delivered, types } = servers();
    const [one, other] = [open(), open()];
    await one.ask(ref, start);
    await other.ask(ref, start);
    await Promise.all([one.ask(ref, delivered), other.ask(ref, delivered)]);
    await Promise.all([one.ask(ref, { type: 'finish' }), other.ask(ref, { type: 'finish' })]);
    expect(await types()).toEqual(['RaceStarted', 'RaceDelivered', 'RaceFinished']);
  });

  it('do not decide on a state that is older than their writer’s', async () => {
    const { open, ref, start, delivered, types } = servers();
    const [one, other] = [open(), open()];
    await one.ask(ref, start);
    // This server has the process in its cache, and opens its writer only after the other one has continued.
    await other.repository.load(race, ref);
    const load = other.repository.load.bind(other.repository);
    other.repository.load = async (...args) => {
      const loaded = await load(...args);
      if (loaded.state.name === 'started') await one.ask(ref, delivered);
      return loaded;
    };
    await other.ask(ref, delivered);
    expect(await types()).toEqual(['RaceStarted', 'RaceDelivered']);
  });

  it('run a step from their cache without reading, and read if the cached state refuses it', async () => {
    const { open, ref, start, delivered, types, store } = servers();
    const [one, other] = [open(), open()];
    await one.ask(ref, start);
    await other.ask(ref, start);
    let reads = 0;
    const read = store.read.bind(store);
    store.read = (...args) => {
      reads += 1;
      return read(...args);
    };
    await one.ask(ref, delivered);
    expect(reads).toBe(0);
    // The cached state refuses it; the recorded one accepts it.
    expect((await other.ask(ref, { type: 'finish' })).answer).toMatchObject({ name: 'finished' });
    expect(reads).toBeGreaterThan(0);
    store.read = read;
    expect(await types()).toEqual(['RaceStarted', 'RaceDelivered', 'RaceFinished']);
  });

  it('keep a process to its own stream: its id means nothing in another', async () => {
    const { open, ref, start } = servers();
    const one = open();
    await one.ask(ref, start);
    const foreign = { ...ref, stream: npcStream('other', 'runner') };
    expect((await one.repository.load(race, foreign)).state).toEqual(race.initial);
  });

  it('fold a process up to a revision, whatever follows', async () => {
    const { open, ref, start, delivered } = servers();
    const one = open();
    await one.ask(ref, start);
    await one.ask(ref, delivered);
    expect((await one.repository.at(race, ref, 0)).state.name).toBe('started');
    expect((await one.repository.load(race, ref)).state.name).toBe('delivered');
  });
});
