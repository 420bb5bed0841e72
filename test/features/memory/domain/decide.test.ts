import type { EventDraft } from '../../../../src/kernel/base/event-draft.js';
import { describe, expect, it } from 'vitest';

import { mindFold } from '../../../../src/features/npcs/mind-fold.js';
import {
  clearMemories,
  confirmMemory,
  knownOfTurn,
  meantMemory,
  storeMemory,
} from '../../../../src/features/memory/domain/decide.js';
import type { MindState } from '../../../../src/features/npcs/domain/state.js';
import { MEMORIES_KEPT } from '../../../../src/features/npcs/domain/stored-memories.js';
import { parseProcessId } from '../../../../src/kernel/crypto/process-id.js';
import { givenOf } from '../../../support/given.js';
import { draftOf, memoryStored } from '../../../support/histories.js';

const given = givenOf(mindFold);
/** From here on, the events of `given` are a second apart. */
const START_MS = Date.parse('2026-01-01T00:00:00.000Z');
const HOUR_MS = 3_600_000;
const by = { timeMs: START_MS, commandId: 'command-1' };
const brought = (text: string) => ({ text, type: 'observation', importance: 0.8 });
const confirmed = (memoryId: string): EventDraft => draftOf({ type: 'MemoryConfirmed', data: { memoryId } });
const retracted = (...memoryIds: readonly string[]): EventDraft =>
  draftOf({ type: 'MemoriesRetracted', data: { memoryIds, reason: 'A lie.' } });
const cleared = draftOf({ type: 'MemoriesCleared', data: { count: 1 } });

/** The memory that a confirmation of this text refers to, as of a turn if one is named. */
const meant = (mind: MindState, text: string, turnId?: string, afterMs = 60_000): string | undefined =>
  meantMemory(mind, brought(text), turnId === undefined ? [] : (knownOfTurn(mind, turnId, 0) ?? []), {
    timeMs: START_MS + afterMs,
    withinMs: HOUR_MS,
  })?.memoryId;

describe('a confirmation', () => {
  const turn = [memoryStored('t1-0', 'Rain.', 't1'), memoryStored('t1-1', 'Wind.', 't1')];

  it('refers to the memory of its turn with the same text, else to the first unconfirmed one, else to the first [3.2d]', () => {
    expect(meant(given(...turn).state, 'Wind.', 't1')).toBe('t1-1');
    expect(meant(given(...turn, confirmed('t1-1')).state, 'Wind.', 't1')).toBe('t1-1');
    expect(meant(given(...turn).state, 'Something else.', 't1')).toBe('t1-0');
    expect(meant(given(...turn, confirmed('t1-0')).state, 'Something else.', 't1')).toBe('t1-1');
    const both = given(...turn, confirmed('t1-0'), confirmed('t1-1'));
    expect(meant(both.state, 'Something else.', 't1')).toBe('t1-0');
  });

  it('for a turn that stored nothing is decided as without the turn [3.2f]', () => {
    expect(meant(given(...turn).state, 'Wind.', 't2')).toBe('t1-1');
    expect(meant(given(...turn).state, 'Sun.', 't2')).toBeUndefined();
  });

  it('refers to a memory with the same text only during the life of a turn [3.2c]', () => {
    const { state } = given(memoryStored('m1', 'Rain.'));
    expect(meant(state, 'Rain.', undefined, HOUR_MS)).toBe('m1');
    expect(meant(state, 'Rain.', undefined, HOUR_MS + 1)).toBeUndefined();
    expect(meant(state, 'rain.')).toBeUndefined();
  });

  it('refers to the first unconfirmed one of several memories with the same text [3.2e]', () => {
    const twice = [memoryStored('m1', 'Rain.'), memoryStored('m2', 'Rain.')];
    expect(meant(given(...twice).state, 'Rain.')).toBe('m1');
    expect(meant(given(...twice, confirmed('m1')).state, 'Rain.')).toBe('m2');
    expect(meant(given(...twice, confirmed('m1'), confirmed('m2')).state, 'Rain.')).toBe('m1');
  });

  it('ignores a memory with the same text after 256 newer ones [3.2e]', () => {
    const others = Array.from({ length: 256 }, (_, n) => memoryStored(`m${String(n)}`, `Other ${String(n)}.`));
    const rain = memoryStored('rain', 'Rain.');
    expect(meant(given(rain, ...others.slice(1)).state, 'Rain.')).toBe('rain');
    expect(meant(given(rain, ...others).state, 'Rain.')).toBeUndefined();
  });

  it('never refers to a cleared memory', () => {
    const { state } = given(...turn, cleared);
    expect([meant(state, 'Wind.'), meant(state, 'Wind.', 't1')]).toEqual([undefined, undefined]);
    const old = [
      {
        memoryId: 't1-0',
        turnId: 't1',
        digest: '',
        teller: null,
        revision: 0,
        atMs: START_MS,
        confirmed: false,
        retracted: false,
      },
    ];
    expect(meantMemory(state, brought('Wind.'), old, { timeMs: START_MS, withinMs: HOUR_MS })).toBeUndefined();
  });

  it('refers to no memory that another player told, unless one of both is not told apart [3.2e]', () => {
    const of = (id: string, from: 'body' | 'context' = 'body') => ({ id, from });
    const { state } = given(memoryStored('m1', 'Rain.', undefined, of('ann')));
    const meantBy = (mind: MindState, player?: ReturnType<typeof of>) =>
      meantMemory(mind, { ...brought('Rain.'), ...(player === undefined ? {} : { player }) }, [], {
        timeMs: START_MS,
        withinMs: HOUR_MS,
      })?.memoryId;
    expect(
      [of('ann'), of('ben'), of(''), of('ben', 'context'), undefined].map((player) => meantBy(state, player)),
    ).toEqual(['m1', undefined, undefined, 'm1', 'm1']);
    expect(meantBy(given(memoryStored('m1', 'Rain.', undefined, of(''))).state, of(''))).toBeUndefined();
    expect(meantBy(given(memoryStored('m1', 'Rain.')).state, of('ben'))).toBe('m1');
    expect(meantBy(given(memoryStored('m1', 'Rain.', undefined, of(''))).state)).toBe('m1');
    expect(meantBy(given(memoryStored('m1', 'Rain.')).state, of(''))).toBe('m1');
  });

  it('refers to the first that may be meant, whether or not it has a player [3.2e]', () => {
    const ann = { id: 'ann', from: 'body' } as const;
    const [told, untold] = [memoryStored('ann', 'Rain.', undefined, ann), memoryStored('untold', 'Rain.')];
    const time = { timeMs: START_MS, withinMs: HOUR_MS };
    const meantBy = (mind: MindState, player?: typeof ann) =>
      meantMemory(mind, { ...brought('Rain.'), ...(player === undefined ? {} : { player }) }, [], time)?.memoryId;
    for (const player of [ann, undefined]) {
      expect(meantBy(given(untold, told).state, player)).toBe('untold');
      expect(meantBy(given(told, untold).state, player)).toBe('ann');
      expect(meantBy(given(untold, told, confirmed('untold')).state, player)).toBe('ann');
      expect(meantBy(given(untold, told, confirmed('untold'), confirmed('ann')).state, player)).toBe('untold');
    }
  });

  it('refers to a retracted memory only if no other exists, so that a repeat does not restore it', () => {
    const one = given(...turn, retracted('t1-0')).state;
    expect([meant(one, 'Rain.', 't1'), meant(one, 'Something else.', 't1'), meant(one, 'Rain.')]).toEqual([
      ...['t1-0', 't1-1', 't1-0'],
    ]);
    const twice = [memoryStored('t1-0', 'Rain.', 't1'), memoryStored('t1-1', 'Rain.', 't1')];
    expect(meant(given(...twice, retracted('t1-0')).state, 'Rain.', 't1')).toBe('t1-1');
    expect(meant(given(...twice, retracted('t1-0', 't1-1')).state, 'Rain.', 't1')).toBe('t1-0');
    const all = given(...turn, confirmed('t1-0'), retracted('t1-0', 't1-1'), confirmed('t1-1')).state;
    expect([meant(all, 'Something else.', 't1'), meant(all, 'Sun.')]).toEqual(['t1-0', undefined]);
    const again = given(
      memoryStored('m1', 'Rain.'),
      retracted('m1'),
      memoryStored('m2', 'Rain.'),
      confirmed('m2'),
    ).state;
    expect(meant(again, 'Rain.')).toBe('m2');
  });

  const memory = {
    memoryId: 'm1',
    turnId: null,
    digest: '',
    teller: null,
    revision: 0,
    atMs: START_MS,
    confirmed: false,
    retracted: false,
  };
  const mind = given(memoryStored('m1'));

  it('is recorded once', () => {
    mind.when(confirmMemory, memory, brought('Rain.'), by).then([confirmed('m1')]);
    mind.when(confirmMemory, { ...memory, confirmed: true }, brought('Rain.'), by).then([]);
    mind.when(confirmMemory, { ...memory, retracted: true }, brought('Rain.'), by).then([]);
  });

  it('of a new text stores it as confirmed, under an id made from its command [3.2f]', () => {
    const decided = mind.when(confirmMemory, undefined, brought('Sun.'), by);
    const memoryId = decided.events?.[0]?.data['memoryId'] as string;
    decided.then([
      { type: 'MemoryStored', data: { memoryId, ...brought('Sun.') } },
      { type: 'MemoryConfirmed', data: { memoryId } },
    ]);
    expect(memoryId).toMatch(/^m/);
    expect(parseProcessId(memoryId)).toEqual({ revision: 0, timeMs: START_MS });
    const other = mind.when(confirmMemory, undefined, brought('Sun.'), { ...by, commandId: 'command-2' });
    expect(other.events?.[0]?.data['memoryId']).not.toBe(memoryId);
  });
});

describe('the memories of a turn', () => {
  const many = Array.from({ length: MEMORIES_KEPT - 1 }, (_, n) => memoryStored(`m${String(n)}`));
  const ids = (mind: MindState, turnId: string, openedAt: number | undefined) =>
    knownOfTurn(mind, turnId, openedAt)?.map(({ memoryId }) => memoryId);

  it('are complete while none was dropped', () => {
    const { state } = given(memoryStored('t1-0', 'Rain.', 't1'), ...many);
    expect([ids(state, 't1', 0), ids(state, 't2', 0)]).toEqual([['t1-0'], []]);
  });

  it('may be older than the state holds, in part or entirely', () => {
    const turn = [memoryStored('t1-0', 'Rain.', 't1'), memoryStored('t1-1', 'Wind.', 't1')];
    expect(ids(given(...turn, ...many).state, 't1', 0)).toBeUndefined();
    expect(ids(given(...turn, ...many, memoryStored('last')).state, 't1', 0)).toBeUndefined();
    const before = [memoryStored('before'), memoryStored('long before')];
    expect(ids(given(...before, ...turn, ...many.slice(2)).state, 't1', 0)).toEqual(['t1-0', 't1-1']);
  });

  it('are unavailable for a turn that was opened after the oldest known memory, or never', () => {
    const { state } = given(memoryStored('m'), ...many, memoryStored('last'));
    expect([ids(state, 't9', 1), ids(state, 't9', undefined), ids(state, 't9', 0)]).toEqual([[], [], undefined]);
  });
});

describe('storing a memory of an agent', () => {
  it('records it with its metadata, and does not confirm it', () => {
    const metadata = { place: 'inn' };
    const decided = given().when(storeMemory, { ...brought('Rain.'), metadata }, by);
    const memoryId = decided.events?.[0]?.data['memoryId'];
    decided.then([{ type: 'MemoryStored', data: { memoryId, ...brought('Rain.'), metadata } }]);
    expect(given().when(storeMemory, brought('Rain.'), by).events?.[0]?.data).not.toHaveProperty('metadata');
  });
});

describe('the time of the game', () => {
  const clock = draftOf({ type: 'FactsReported', data: { facts: { time: '0412-06-01T20:00:00Z' } } });

  it('is recorded with what clients store, except for knowledge [13.3b, 13.3d]', () => {
    const storedBy = (type: string) =>
      given(clock).when(storeMemory, { ...brought('Rain.'), type }, by).events?.[0]?.data['gameTime'];
    expect(storedBy('observation')).toBe('0412-06-01T20:00:00Z');
    expect(storedBy('knowledge')).toBeUndefined();
    const [kept] = given(clock).when(confirmMemory, undefined, brought('Rain.'), by).events ?? [];
    expect(kept?.data['gameTime']).toBe('0412-06-01T20:00:00Z');
  });
});

describe('clearing the memories', () => {
  it('records how many were cleared, and nothing if none exist', () => {
    const mind = given(memoryStored('m1'), memoryStored('m2'));
    mind.when(clearMemories).then([{ type: 'MemoriesCleared', data: { count: 2 } }]);
    mind.when(clearMemories).and.when(clearMemories).then([]);
    given().when(clearMemories).then([]);
  });

  it('does not count retracted memories', () => {
    const mind = given(memoryStored('m1'), memoryStored('m2'), retracted('m1'));
    mind.when(clearMemories).then([{ type: 'MemoriesCleared', data: { count: 1 } }]);
    given(memoryStored('m1'), retracted('m1')).when(clearMemories).then([]);
  });
});
