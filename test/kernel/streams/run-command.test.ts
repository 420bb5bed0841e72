import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { yieldToEventLoop } from '../../../src/kernel/concurrency/yield-to-event-loop.js';
import { findBreak } from '../../support/find-break.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import { DECIDE_ATTEMPTS } from '../../../src/kernel/streams/attempts.js';
import { type UncheckedDraft, runCommand } from '../../../src/kernel/streams/run-command.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import type { EventStore } from '../../../src/ports/event-store.js';
import { ManualClock } from '../../support/manual-clock.js';
import { eventsOf, heldStore, note, onBehalf, storeWith, STREAM, texts, textsOf } from '../../support/streams.js';

type Decide = (state: readonly string[], revision: number) => readonly UncheckedDraft[] | Rejection;

/** A server on a store; others may be opened on the same one. */
const serverOn = (store: EventStore) => {
  const clock = new ManualClock();
  const deps = { events: store, clock, writers: new StreamWriters(store, clock) };
  return {
    run: (commandId: string, decide: Decide = () => [note(commandId)]) =>
      runCommand(deps, STREAM, texts, onBehalf(commandId), decide),
    resume: (commandId: string) =>
      runCommand(deps, STREAM, texts, { ...onBehalf(commandId), resumed: true }, () => [note(commandId)]),
    repeat: (commandId: string) =>
      runCommand(deps, STREAM, texts, { ...onBehalf(commandId), resumed: true, done: true }, () => [note(commandId)]),
  };
};

describe('a command', () => {
  it('records the decision and returns the new revision', async () => {
    const store = new MemoryEventStore();
    const server = serverOn(store);
    await server.run('one');
    const outcome = await server.run('two', (state, revision) => [note(`${state.join()} at ${revision}`), note('two')]);
    expect(outcome).toMatchObject({ state: ['one', 'one at 0', 'two'], revision: 2, position: 3 });
    expect(outcome.events.map(({ id }) => id)).toEqual((await eventsOf(store)).slice(1).map(({ id }) => id));
  });

  it('is decided again when another server wrote first', async () => {
    const store = new MemoryEventStore();
    const [mine, other] = [serverOn(store), serverOn(store)];
    await mine.run('one');
    await other.run('two');
    const seen: unknown[] = [];
    const outcome = await mine.run('three', (state) => {
      seen.push(state);
      return [note('three')];
    });
    expect(seen).toEqual([['one'], ['one', 'two']]);
    expect(outcome.state).toEqual(['one', 'two', 'three']);
  });

  it('leaves an intact chain whenever it arrives while another one is refused', async () => {
    for (let moment = 0; moment < 20; moment += 1) {
      const store = new MemoryEventStore();
      const [mine, other] = [serverOn(store), serverOn(store)];
      await mine.run('one');
      await other.run('foreign');
      const first = mine.run('two');
      for (let tick = 0; tick < moment; tick += 1) await Promise.resolve();
      await Promise.all([first, mine.run('three')]);
      expect(findBreak(await eventsOf(store)), `after ${moment} ticks`).toBeNull();
      expect((await textsOf(store)).toSorted()).toEqual(['foreign', 'one', 'three', 'two']);
    }
  });

  it('gives up after its attempts, and asks for a retry', async () => {
    const jammed = storeWith(new MemoryEventStore(), { append: () => Promise.resolve({ ok: false, actual: 5 }) });
    let decided = 0;
    const command = serverOn(jammed).run('x', () => {
      decided += 1;
      return [note('x')];
    });
    await expect(command).rejects.toMatchObject({ code: 'CONFLICT', retryAfter: 1 });
    expect(decided).toBe(DECIDE_ATTEMPTS);
  });

  it('records nothing when it is refused or changes nothing', async () => {
    const store = new MemoryEventStore();
    const server = serverOn(store);
    await server.run('one');
    const refusal = new Rejection('NPC_NOT_FOUND');
    await expect(server.run('x', () => refusal)).rejects.toBe(refusal);
    expect(await server.run('y', () => [])).toEqual({ events: [], state: ['one'], revision: 0, position: 0 });
    expect(await store.lastPosition()).toBe(1);
  });

  const onlyOnce: Decide = (state) => (state.includes('x') ? [] : [note('x')]);
  const refusedTwice: Decide = (state) => (state.includes('x') ? new Rejection('CONFLICT') : [note('x')]);
  it.each([
    ['changes nothing', onlyOnce],
    ['is refused', refusedTwice],
  ])('that %s because of an event that is then discarded is decided again', async (_, decide) => {
    const memory = new MemoryEventStore();
    const { store, release } = heldStore(memory);
    const server = serverOn(store);
    const first = server.run('first', decide);
    await yieldToEventLoop();
    const second = server.run('second', decide);
    await yieldToEventLoop();
    release(false);
    await expect(first).rejects.toThrow('the disk is full');
    await yieldToEventLoop();
    release();
    expect((await second).events).toHaveLength(1);
    expect(await textsOf(memory)).toEqual(['x']);
  });

  it('finds the events of its first attempt when that one died, and records nothing more', async () => {
    const store = new MemoryEventStore();
    const first = await serverOn(store).run('x');
    const restarted = serverOn(store);
    await restarted.run('y');
    const again = await restarted.resume('x');
    expect(again.events.map(({ id }) => id)).toEqual(first.events.map(({ id }) => id));
    expect(again).toMatchObject({ position: 1, revision: 1, state: ['x', 'y'] });
    expect(await store.lastPosition()).toBe(2);
  });

  it('is not decided again after it was done and recorded nothing, because others may have changed the state since', async () => {
    const store = new MemoryEventStore();
    const server = serverOn(store);
    await server.run('y');
    expect(await server.repeat('x')).toMatchObject({ events: [], revision: 0, state: ['y'] });
    expect(await textsOf(store)).toEqual(['y']);
    // The recorded events are found.
    expect((await server.repeat('y')).events).toHaveLength(1);
  });

  it('runs when it is resumed and its first attempt had recorded nothing', async () => {
    const store = new MemoryEventStore();
    await serverOn(store).resume('x');
    expect(await textsOf(store)).toEqual(['x']);
  });
});
