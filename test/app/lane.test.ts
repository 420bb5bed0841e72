import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../src/adapters/memory/event-store.js';
import { findBreak } from '../../src/app/hash-chain.js';
import { type CommandContext, type Fold, Lane } from '../../src/app/lane.js';
import { Lanes } from '../../src/app/lanes.js';
import { COMMAND_ATTEMPTS, runCommand } from '../../src/app/run-command.js';
import { Rejection } from '../../src/domain/shared/rejection.js';
import type { EventStore } from '../../src/ports/event-store.js';
import { ManualClock } from '../support/manual-clock.js';

const counted: Fold<number> = { initial: 0, evolve: (count) => count + 1 };
const context = (commandId: string): CommandContext => ({
  tenant: 'studio',
  actor: 'key',
  commandId,
  correlationId: commandId,
  causationId: null,
});
const note = (text: string) => ({ type: 'Noted', data: { text } });
const stream = 'npc-studio.one';

const setUp = async () => {
  const store = new MemoryEventStore();
  const clock = new ManualClock();
  const lane = new Lane(stream, counted, store, clock);
  await lane.load();
  const put = (text: string) =>
    lane.append(lane.place([note(text)], context(text), { scope: text, timeMs: 0, sequence: 0 }));
  const stored = async () => (await store.read(stream, { direction: 'forwards', limit: 100 })).events;
  return { store, clock, lane, put, stored };
};

describe('a lane', () => {
  it('sends appends ahead of each other, in order and with a whole chain', async () => {
    const { lane, put, stored } = await setUp();
    const outcomes = await Promise.all(['a', 'b', 'c'].map(put));
    expect(outcomes.map((outcome) => outcome.ok)).toEqual([true, true, true]);
    expect((await stored()).map(({ data }) => data['text'])).toEqual(['a', 'b', 'c']);
    expect(findBreak(await stored())).toBeNull();
    expect([lane.state, lane.revision, lane.confirmedRevision]).toEqual([3, 2, 2]);
  });

  it('throws everything placed behind a failed append back to what is confirmed, and goes on', async () => {
    const { store, lane, put, stored } = await setUp();
    await put('a');
    const [first] = await stored();
    if (first === undefined) throw new Error('nothing was stored');
    // Another server was faster.
    await store.append(stream, 0, [{ ...first, id: '018f0000-0000-8000-8000-000000000001' }]);
    const behind = await Promise.all([put('b'), put('c')]);
    expect(behind.map((outcome) => outcome.ok)).toEqual([false, false]);
    await lane.load();
    expect([lane.state, lane.revision]).toEqual([2, 1]);
    expect((await put('b')).ok).toBe(true);
  });

  it('never lets time decrease within a stream, whatever the clock does', async () => {
    const { clock, put, stored } = await setUp();
    await clock.advance(60_000);
    await put('a');
    const late = new ManualClock('2020-01-01T00:00:00.000Z');
    const back = new Lane(stream, counted, (await setUpOn(await stored())).store, late);
    await back.load();
    const [event] = back.place([note('b')], context('b'), { scope: 'b', timeMs: 0, sequence: 0 });
    expect(event?.meta.at).toBe('2026-01-01T00:01:00.000Z');
  });

  it('makes the same id of the same scope, sequence and content, and another of anything else', async () => {
    const { lane } = await setUp();
    const idOf = (text: string, scope: string, sequence: number): string | undefined =>
      lane.place([note(text)], context('x'), { scope, timeMs: 5, sequence })[0]?.id;
    expect(idOf('a', 'p', 0)).toBe(idOf('a', 'p', 0));
    const others = [idOf('b', 'p', 0), idOf('a', 'q', 0), idOf('a', 'p', 1)];
    expect(new Set([idOf('a', 'p', 0), ...others]).size).toBe(4);
  });

  it('sees with `latest` what others appended, and changes nothing by it', async () => {
    const { store, lane, put, stored } = await setUp();
    await put('a');
    const [first] = await stored();
    if (first === undefined) throw new Error('nothing was stored');
    await store.append(stream, 0, [{ ...first, id: '018f0000-0000-8000-8000-000000000001' }]);
    expect(await lane.latest()).toEqual({ state: 2, revision: 1 });
    expect(lane.revision).toBe(0);
  });
});

const setUpOn = async (events: readonly { id: string; type: string; data: object; meta: object }[]) => {
  const store = new MemoryEventStore();
  await store.append(stream, 'no_stream', events as never);
  return { store };
};

describe('lanes', () => {
  it('keep as many as they may, and let the longest unused idle one go', async () => {
    const store = new MemoryEventStore();
    const lanes = new Lanes(store, new ManualClock(), 2);
    const first = await lanes.open('a', counted);
    await lanes.open('b', counted);
    expect(await lanes.open('a', counted)).toBe(first);
    await lanes.open('c', counted);
    expect(await lanes.open('a', counted)).toBe(first);
  });
});

describe('a command', () => {
  const open = () => {
    const store = new MemoryEventStore();
    const clock = new ManualClock();
    return { store, clock, deps: { events: store, clock, lanes: new Lanes(store, clock) } };
  };

  it('is decided again when somebody else wrote first', async () => {
    const { deps, store, clock } = open();
    const other = { events: store, clock, lanes: new Lanes(store, clock) };
    await runCommand(deps, stream, counted, context('one'), () => [note('one')]);
    await runCommand(other, stream, counted, context('two'), () => [note('two')]);
    const seen: number[] = [];
    const outcome = await runCommand(deps, stream, counted, context('three'), (state) => {
      seen.push(state);
      return [note('three')];
    });
    expect(seen).toEqual([1, 2]);
    expect([outcome.state, outcome.revision]).toEqual([3, 2]);
  });

  it('gives up after its attempts, and says so', async () => {
    const { deps, store } = open();
    const jammed: EventStore = new Proxy(store, {
      get: (target, name) => {
        if (name === 'append') return () => Promise.resolve({ ok: false, actual: 5 });
        const value = Reflect.get(target, name) as unknown;
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
    let decided = 0;
    const command = runCommand({ ...deps, lanes: new Lanes(jammed, deps.clock) }, stream, counted, context('x'), () => {
      decided += 1;
      return [note('x')];
    });
    await expect(command).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(decided).toBe(COMMAND_ATTEMPTS);
  });

  it('records nothing when it is refused or changes nothing', async () => {
    const { deps, store } = open();
    const refusal = new Rejection('NPC_NOT_FOUND');
    await expect(runCommand(deps, stream, counted, context('x'), () => refusal)).rejects.toBe(refusal);
    expect(await runCommand(deps, stream, counted, context('y'), () => [])).toMatchObject({ events: [], position: 0 });
    expect(await store.lastPosition()).toBe(0);
  });

  it('finds the events of its first attempt when that one died, and records nothing more', async () => {
    const { deps, store } = open();
    const first = await runCommand(deps, stream, counted, context('x'), () => [note('x')]);
    const again = await runCommand(deps, stream, counted, { ...context('x'), resumed: true }, () => [note('x')]);
    expect(again.events.map(({ id }) => id)).toEqual(first.events.map(({ id }) => id));
    expect(await store.lastPosition()).toBe(1);
  });
});
