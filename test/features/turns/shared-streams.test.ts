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

/** Several servers on one store, each with what it remembers. */
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

describe('Several servers on one store', () => {
  it('answer an input that does nothing from what the others recorded', async () => {
    const { open, ref, start, delivered } = servers();
    const [one, other] = [open(), open()];
    await one.ask(ref, start);
    await other.ask(ref, start);
    await one.ask(ref, delivered);
    const { answer, revision } = await other.ask(ref, start);
    expect(answer).toEqual({ name: 'delivered' });
    expect(revision).toBe(1);
  });

  it('record a step once, whoever takes it, and however stale the others are', async () => {
    const { open, ref, start, delivered, types } = servers();
    const [one, other] = [open(), open()];
    await one.ask(ref, start);
    await other.ask(ref, start);
    await Promise.all([one.ask(ref, delivered), other.ask(ref, delivered)]);
    await Promise.all([one.ask(ref, { type: 'finish' }), other.ask(ref, { type: 'finish' })]);
    expect(await types()).toEqual(['RaceStarted', 'RaceDelivered', 'RaceFinished']);
  });

  it('do not decide from a state that is older than what their writer has read', async () => {
    const { open, ref, start, delivered, types } = servers();
    const [one, other] = [open(), open()];
    await one.ask(ref, start);
    // This server knows the process from before, and opens its writer only after the other one has gone on.
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

  it('take a step from what they remember without reading, and read when that makes nothing of it', async () => {
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
    // What this one remembers refuses it; what is recorded takes it.
    expect((await other.ask(ref, { type: 'finish' })).answer).toMatchObject({ name: 'finished' });
    expect(reads).toBeGreaterThan(0);
    store.read = read;
    expect(await types()).toEqual(['RaceStarted', 'RaceDelivered', 'RaceFinished']);
  });

  it('keep a process from the streams of others: its id there names nothing', async () => {
    const { open, ref, start } = servers();
    const one = open();
    await one.ask(ref, start);
    const foreign = { ...ref, stream: npcStream('other', 'runner') };
    expect((await one.repository.load(race, foreign)).state).toEqual(race.initial);
  });

  it('fold a process up to a revision, whatever came after', async () => {
    const { open, ref, start, delivered } = servers();
    const one = open();
    await one.ask(ref, start);
    await one.ask(ref, delivered);
    expect((await one.repository.at(race, ref, 0)).state.name).toBe('started');
    expect((await one.repository.load(race, ref)).state.name).toBe('delivered');
  });
});
