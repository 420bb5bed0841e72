import type { EventDraft } from '../../../src/kernel/base/event-draft.js';
import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { confirm } from '../../../src/features/memory/confirm.js';
import { mindFold } from '../../../src/features/npcs/mind-fold.js';
import { FIRST_EVENT_SEARCH } from '../../../src/kernel/streams/first-event-search.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import { type Command, runCommand } from '../../../src/kernel/streams/run-command.js';
import { PAGE_EVENTS } from '../../../src/kernel/streams/stream-pages.js';
import { clearMemories } from '../../../src/features/memory/domain/decide.js';
import { MEMORIES_KEPT } from '../../../src/features/npcs/domain/stored-memories.js';
import { makeTurnId } from '../../../src/features/turns/domain/turn-id.js';
import type { EventStore } from '../../../src/ports/event-store.js';
import { draftOf, memoryStored } from '../../support/histories.js';
import { ManualClock } from '../../support/manual-clock.js';
import { eventsOf, onBehalf, STREAM, storeWith } from '../../support/streams.js';

const HOUR_MS = 3_600_000;
const TURN = makeTurnId('verdict', 0, Date.parse('2026-01-01T00:00:00.000Z'), 'verdict');
const turnMemories = [memoryStored(`${TURN}-0`, 'Rain.', TURN), memoryStored(`${TURN}-1`, 'Wind.', TURN)];
/** Enough that the state of the mind no longer holds the older ones. */
const later = Array.from({ length: MEMORIES_KEPT }, (_, n) => memoryStored(`m${String(n)}`, `Later ${String(n)}.`));

/** A mind with these events. `reads` counts the reads of its stream during the decision on a confirmation. */
const mindOf = async (...told: readonly EventDraft[]) => {
  const store = new MemoryEventStore();
  const clock = new ManualClock();
  let reads = 0;
  const events: EventStore = storeWith(store, {
    read: (stream, range) => {
      reads += 1;
      return store.read(stream, range);
    },
  });
  const deps = { events, clock, writers: new StreamWriters(store, clock) };
  let commands = 0;
  const record = (decided: readonly EventDraft[]) =>
    runCommand(deps, STREAM, mindFold, onBehalf(`told-${String((commands += 1))}`), () => decided);
  await record([draftOf({ type: 'NpcRegistered', data: {} })]);
  await record(told);
  return {
    deps,
    record,
    clock,
    reads: () => reads,
    clear: () => runCommand(deps, STREAM, mindFold, onBehalf('clear'), clearMemories),
    confirm: async (text: string, turnId?: string, by: Partial<Command> = {}) => {
      const before = (await eventsOf(store, STREAM)).length;
      const { stored, revision } = await confirm(
        deps,
        STREAM,
        {
          text,
          type: 'observation',
          importance: 0.8,
          withinMs: HOUR_MS,
          ...(turnId === undefined ? {} : { turnId }),
        },
        { ...onBehalf(`confirm-${String((commands += 1))}`), ...by },
      );
      const all = await eventsOf(store, STREAM);
      expect(revision).toBe(all.length - 1);
      return { memory: stored.data, recorded: all.slice(before).map(({ type }) => type) };
    },
  };
};

describe('confirming a memory', () => {
  it('answers with the event that stored the memory, even if it was confirmed before', async () => {
    const { confirm: sent } = await mindOf(...turnMemories);
    const memory = { memoryId: `${TURN}-1`, text: 'Wind.', turnId: TURN };
    expect(await sent('Wind.')).toMatchObject({ memory, recorded: ['MemoryConfirmed'] });
    expect(await sent('Wind.', TURN)).toMatchObject({ memory, recorded: [] });
  });

  it('stores a new memory, and recognises it from then on', async () => {
    const { confirm: sent } = await mindOf();
    const { memory, recorded } = await sent('Sun.');
    expect(recorded).toEqual(['MemoryStored', 'MemoryConfirmed']);
    expect(await sent('Sun.')).toEqual({ memory, recorded: [] });
  });

  it('stores a memory again if it was stored longer ago than the life of a turn', async () => {
    const { confirm: sent, clock } = await mindOf(memoryStored('m1', 'Rain.'));
    clock.setBy(HOUR_MS + 1);
    expect((await sent('Rain.')).recorded).toEqual(['MemoryStored', 'MemoryConfirmed']);
  });

  it('does not read the stream while the state of the mind is sufficient', async () => {
    const { confirm: sent, reads } = await mindOf(...turnMemories);
    await sent('New.');
    await sent('New too.', makeTurnId('verdict', 0, 0, 'of no turn'));
    await sent('New as well.', 'not a turn at all');
    expect(reads()).toBe(0);
  });
});

describe('confirming a memory of a turn that ended long ago', () => {
  it('finds it among the events, and confirms each memory once [3.2g]', async () => {
    const { confirm: sent } = await mindOf(...turnMemories, ...later);
    const confirmed = ['MemoryConfirmed'];
    expect(await sent('Wind.', TURN)).toMatchObject({ memory: { memoryId: `${TURN}-1` }, recorded: confirmed });
    expect(await sent('Wind.', TURN)).toMatchObject({ memory: { memoryId: `${TURN}-1` }, recorded: [] });
    expect(await sent('Other words.', TURN)).toMatchObject({ memory: { memoryId: `${TURN}-0` }, recorded: confirmed });
    expect(await sent('Other words.', TURN)).toMatchObject({ memory: { memoryId: `${TURN}-0` }, recorded: [] });
  });

  it('finds all of them even if only the first has left the state of the mind', async () => {
    const { confirm: sent } = await mindOf(...turnMemories, ...later.slice(1));
    expect(await sent('Rain.', TURN)).toMatchObject({ memory: { memoryId: `${TURN}-0` } });
  });

  it('stores a new one if the turn stored none, or if they were cleared', async () => {
    const { confirm: sent, clear, record } = await mindOf(...turnMemories, ...later);
    const stored = ['MemoryStored', 'MemoryConfirmed'];
    expect((await sent('Sun.', makeTurnId('verdict', 0, 0, 'of no turn'))).recorded).toEqual(stored);
    await clear();
    await record(later);
    await record([memoryStored('last')]);
    expect((await sent('Wind.', TURN)).recorded).toEqual(stored);
  });

  it('finds it in the latest turn possible', async () => {
    const { confirm: sent, record } = await mindOf();
    const others = (count: number) => Array.from({ length: count }, (_, n) => memoryStored(`o${String(n)}`));
    // The first event of the mind registers it.
    for (let left = FIRST_EVENT_SEARCH - 2; left > 0; left -= PAGE_EVENTS)
      await record(others(Math.min(left, PAGE_EVENTS)));
    await record(turnMemories);
    await record(later);
    expect((await sent('Rain.', TURN)).recorded).toEqual(['MemoryConfirmed']);
  });

  it('reads little for a turn that was never opened', async () => {
    const { confirm: sent, record, reads } = await mindOf();
    for (let batch = 0; batch < FIRST_EVENT_SEARCH + PAGE_EVENTS; batch += later.length) await record(later);
    await sent('Sun.', makeTurnId('verdict', 0, 0, 'made up'));
    const most = FIRST_EVENT_SEARCH / PAGE_EVENTS;
    expect(reads()).toBeLessThanOrEqual(most);
    await sent('Moon.', makeTurnId('verdict', 0, 0, 'made up, too'));
    expect(reads()).toBeLessThanOrEqual(2 * most);
  });

  it('confirms it once when many requests do so at the same time [3.2g]', async () => {
    const { deps } = await mindOf(...turnMemories, ...later);
    const asked = { text: 'Wind.', type: 'observation', importance: 0.8, turnId: TURN, withinMs: HOUR_MS };
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => confirm(deps, STREAM, asked, onBehalf(`at-once-${String(n)}`))),
    );
    expect(new Set(answers.map(({ stored }) => stored.data['memoryId']))).toEqual(new Set([`${TURN}-1`]));
    const types = (await eventsOf(deps.events, STREAM)).map(({ type }) => type);
    expect(types.filter((type) => type === 'MemoryConfirmed')).toHaveLength(1);
  });
});

describe('a retry of an earlier confirmation', () => {
  const by = { commandId: 'cmjugqv40_abcdefghijklmnopr1', resumed: true };

  it('answers with the memory that was stored, however much was stored since', async () => {
    const { confirm: sent, record } = await mindOf();
    const { memory } = await sent('Sun.', undefined, by);
    await record(later);
    await record([memoryStored('last')]);
    expect(await sent('Sun.', undefined, by)).toEqual({ memory, recorded: [] });
  });

  it('answers with the memory of that text, or that none is left, if the first attempt recorded nothing', async () => {
    const { confirm: sent, clear, clock, record } = await mindOf();
    const { memory } = await sent('Sun.');
    const repeated = { ...by, commandId: 'cmjugqv40_abcdefghijklmnopr2', done: true };
    await clock.advance(24 * 60 * 60 * 1_000);
    await record([memoryStored('unconfirmed', 'Sun.')]);
    expect(await sent('Sun.', undefined, repeated)).toEqual({ memory, recorded: [] });
    await clear();
    const gone = sent('Sun.', undefined, repeated);
    await expect(gone).rejects.toMatchObject({ code: 'MEMORY_NOT_FOUND', retryAfter: undefined });
  });

  it('answers with the memory that was confirmed, even if it was cleared since', async () => {
    const { confirm: sent, clear } = await mindOf(...turnMemories);
    const { memory, recorded } = await sent('Wind.', TURN, by);
    expect(recorded).toEqual(['MemoryConfirmed']);
    await clear();
    expect(await sent('Wind.', TURN, by)).toEqual({ memory, recorded: [] });
  });
});
