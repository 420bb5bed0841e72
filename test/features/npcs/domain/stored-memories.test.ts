import type { EventDraft } from '../../../../src/kernel/base/event-draft.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { mindFold } from '../../../../src/features/npcs/mind-fold.js';
import { npcEvents } from '../../../../src/features/npcs/domain/events.js';
import {
  lastMemories,
  memoriesAfter,
  MEMORIES_KEPT,
  noMemories,
  type StoredMemory,
} from '../../../../src/features/npcs/domain/stored-memories.js';
import { shortDigest } from '../../../../src/kernel/crypto/sha256.js';
import { givenOf } from '../../../support/given.js';
import { draftOf, memoryStored, recorded, turnOpened } from '../../../support/histories.js';
import { STREAM } from '../../../support/streams.js';

const given = givenOf(mindFold);
const confirmed = (memoryId: string): EventDraft => draftOf({ type: 'MemoryConfirmed', data: { memoryId } });
const cleared = (count: number): EventDraft => draftOf({ type: 'MemoriesCleared', data: { count } });
const retracted = (...memoryIds: readonly string[]): EventDraft =>
  draftOf({ type: 'MemoriesRetracted', data: { memoryIds, reason: 'A lie.' } });
const after = (...events: readonly EventDraft[]) => given(...events).state.memories;

describe('the memories in the state of a mind', () => {
  it('contain everything that a confirmation needs', () => {
    const { memories } = given(memoryStored('t1-0', 'It rained.', 't1'), memoryStored('m2', 'It shone.')).state;
    expect(lastMemories(memories)).toEqual([
      {
        memoryId: 't1-0',
        turnId: 't1',
        digest: shortDigest('It rained.'),
        teller: null,
        revision: 0,
        atMs: Date.parse('2026-01-01T00:00:00.000Z'),
        confirmed: false,
        retracted: false,
      },
      {
        memoryId: 'm2',
        turnId: null,
        digest: shortDigest('It shone.'),
        teller: null,
        revision: 1,
        atMs: Date.parse('2026-01-01T00:00:01.000Z'),
        confirmed: false,
        retracted: false,
      },
    ]);
  });

  it('are confirmed one by one', () => {
    const events = [memoryStored('m1'), memoryStored('m2'), confirmed('m2')];
    expect(lastMemories(after(...events)).map((memory) => memory.confirmed)).toEqual([false, true]);
    expect(after(...events).confirmedAt).toBe(2);
  });

  it('stay known when they are retracted, and no confirmation changes that', () => {
    const gone = after(
      memoryStored('m1'),
      confirmed('m1'),
      memoryStored('m2'),
      retracted('m1', 'old'),
      confirmed('m1'),
    );
    expect(lastMemories(gone).map((memory) => [memory.memoryId, memory.retracted])).toEqual([
      ['m1', true],
      ['m2', false],
    ]);
    expect([gone.count, gone.retracted, gone.retractedAt]).toEqual([2, 2, 3]);
    const cleared1 = after(memoryStored('m1'), retracted('m1'), cleared(1));
    expect([cleared1.count, cleared1.retracted, cleared1.retractedAt]).toEqual([0, 0, 1]);
  });

  it('are gone after a clear, from which the count restarts', () => {
    const gone = after(memoryStored('m1'), confirmed('m1'), cleared(1));
    expect([lastMemories(gone), gone.count, gone.clearedAt, gone.confirmedAt]).toEqual([[], 0, 2, 1]);
    const again = after(memoryStored('m1'), cleared(1), memoryStored('m2'));
    expect([lastMemories(again).map(({ memoryId }) => memoryId), again.count, again.clearedAt]).toEqual([['m2'], 1, 1]);
  });

  it('stay the same value on an event that concerns none', () => {
    const before = after(memoryStored('m1'));
    const [opening] = recorded(STREAM, [turnOpened('t1')], 1);
    expect(opening).toBeDefined();
    const state = opening && mindFold.evolve(given(memoryStored('m1')).state, opening);
    expect(state?.memories).toEqual(before);
  });

  it('are always the newest ones in the order of storage, after any events', () => {
    const step = fc.oneof(
      { weight: 60, arbitrary: fc.constant('store' as const) },
      { weight: 20, arbitrary: fc.nat(400) },
      { weight: 5, arbitrary: fc.nat(400).map((gone) => ({ gone: [`m${String(gone)}`, `m${String(gone + 7)}`] })) },
      { weight: 1, arbitrary: fc.constant('clear' as const) },
    );
    fc.assert(
      fc.property(fc.array(step, { minLength: 300, maxLength: 700 }), (steps) => {
        let model: StoredMemory[] = [];
        let [memories, count] = [noMemories, 0];
        const moments: { readonly memories: typeof noMemories; readonly expected: readonly StoredMemory[] }[] = [];
        for (const [revision, one] of steps.entries()) {
          const gone = typeof one === 'object' ? one.gone : [];
          const memoryId = one === 'store' ? `m${String(revision)}` : `m${JSON.stringify(one)}`;
          const event =
            one === 'store'
              ? memoryStored(memoryId)
              : one === 'clear'
                ? cleared(model.length)
                : typeof one === 'object'
                  ? retracted(...gone)
                  : confirmed(memoryId);
          const [at] = recorded(STREAM, [event], revision);
          if (at === undefined) throw new Error('nothing was recorded');
          memories = memoriesAfter(memories, npcEvents.decode(at), at);
          if (one === 'store') {
            model = [...model, ...lastMemories(memoriesAfter(noMemories, npcEvents.decode(at), at))].slice(
              -MEMORIES_KEPT,
            );
            count += 1;
          } else if (one === 'clear') [model, count] = [[], 0];
          else {
            model = model.map((memory) => {
              if (gone.includes(memory.memoryId)) return { ...memory, confirmed: false, retracted: true };
              return memory.memoryId === memoryId && !memory.retracted ? { ...memory, confirmed: true } : memory;
            });
          }
          expect(memories.count).toBe(count);
          if (revision % 37 === 0) moments.push({ memories, expected: model });
        }
        for (const { memories: then, expected } of moments) expect(lastMemories(then)).toEqual(expected);
      }),
      { numRuns: 30 },
    );
  });

  it('copy little with each memory, however many there were', () => {
    let memories = noMemories;
    let copied = 0;
    for (let n = 0; n < 10_000; n += 1) {
      const before = memories;
      const event = memoryStored(`m${String(n)}`);
      const [at] = recorded(STREAM, [event], n);
      if (at === undefined) throw new Error('nothing was recorded');
      memories = memoriesAfter(memories, npcEvents.decode(at), at);
      copied += memories.changes.length + (memories.list === before.list ? 0 : memories.list.length);
    }
    expect(memories.count).toBe(10_000);
    // A single list would have been copied 2.5 million times.
    expect(copied).toBeLessThan(500_000);
  });

  it('take little space in a snapshot', () => {
    const id = (n: number) => `t${(n * 7).toString(36)}_mjugqv40_kG3WfXeWgfGLN9aF`;
    const many = Array.from({ length: 300 }, (_, n) => memoryStored(`${id(n)}-0`, `Memory ${String(n)}`, id(n)));
    expect(JSON.stringify(after(...many)).length).toBeLessThan(32_000);
  });
});
