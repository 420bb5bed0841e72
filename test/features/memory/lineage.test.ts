import type { EventDraft } from '../../../src/kernel/base/event-draft.js';
import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { lineagePart } from '../../../src/features/memory/lineage.js';
import { appendNext } from '../../support/append-next.js';
import { contextBuilt, draftOf, memoriesRecalled, memoryStored, recorded, verdict } from '../../support/histories.js';
import { memoryRow, STREAM } from '../../support/recall-scene.js';
import { turnsDuring } from '../../support/turns.js';

const recalled = (turnId: string, ...texts: readonly string[]): EventDraft => {
  const { type, data } = memoriesRecalled(turnId);
  const memories = texts.map((text) => ({ text, type: 'observation', importance: 1, similarity: 0.5 }));
  return { type, data: { ...data, memories } };
};
const told = (turnId: string, text: string): readonly EventDraft[] => [
  verdict(turnId, true),
  memoryStored(`${turnId}-0`, text, turnId),
];
const busy = (count: number): readonly EventDraft[] =>
  Array.from({ length: count }, () => draftOf({ type: 'StateChanged', data: { turnId: 'other', patch: {} } }));

const storeOf = async (events: readonly EventDraft[]): Promise<MemoryEventStore> => {
  const store = new MemoryEventStore();
  const all = recorded(STREAM, events);
  for (let at = 0; at < all.length; at += 100) await appendNext(store, STREAM, all.slice(at, at + 100));
  return store;
};
const first = memoryRow(0, 'A lie.', { memoryId: 'm0' });

describe('the parts of a lineage', () => {
  it('follow turns and memories from one to the next, and yield to other work [10.12a, 10.12d]', async () => {
    const events = await storeOf([
      ...[memoryStored('m0', 'A lie.'), recalled('t1', 'A lie.'), ...told('t1', 'Worse.'), recalled('t2', 'A lie.')],
      ...busy(20_000),
      ...[recalled('t3', 'Worse.', 'A lie.'), ...told('t2', 'Bad.'), ...told('t3', 'Evil.')],
      ...[recalled('t4', 'Evil.'), recalled('t5', 'A lie.')],
    ]);
    const parts: Awaited<ReturnType<typeof lineagePart>>[] = [];
    const turns = await turnsDuring(async () => {
      let cursor: string | undefined;
      do {
        const part = await lineagePart({ events }, STREAM, first, cursor);
        parts.push(part);
        cursor = part.next;
      } while (cursor !== undefined);
    });
    expect(parts.map(({ derived }) => derived.map(({ memoryId, depth, by }) => [memoryId, depth, by]))).toEqual([
      [['t1-0', 1, ['m0']]],
      [
        ['t2-0', 1, ['m0']],
        ['t3-0', 1, ['t1-0', 'm0']],
      ],
    ]);
    expect(parts.map(({ recalledBy }) => recalledBy.map(({ turnId, verdict: of }) => [turnId, of?.valid]))).toEqual([
      [['t1', true]],
      [
        ['t2', true],
        ['t3', true],
        ['t5', undefined],
      ],
    ]);
    expect(turns).toBeGreaterThan(30);
  });

  it('name the memories that a turn recalled by their text, including retracted and cleared ones, at most 16 [10.12b, 10.12c]', async () => {
    const retracted = draftOf({ type: 'MemoriesRetracted', data: { memoryIds: ['m0'], reason: 'A lie.' } });
    const cleared = draftOf({ type: 'MemoriesCleared', data: { count: 1 } });
    const events = await storeOf([
      ...[memoryStored('m0', 'A lie.'), recalled('t0', 'A lie.'), verdict('t0', true)],
      ...Array.from({ length: 20 }, (_, n) =>
        memoryStored(`t0-${String(n)}`, n < 2 ? 'A lie.' : `Lie ${String(n)}.`, 't0'),
      ),
      ...[retracted, recalled('t1', 'A lie.'), ...told('t1', 'Worse.')],
      ...[cleared, recalled('t2', 'A lie.'), ...told('t2', 'Bad.'), memoryStored('m1', 'A lie.')],
      recalled('t3', ...Array.from({ length: 20 }, (_, n) => `Lie ${String(n)}.`)),
      ...told('t3', 'Evil.'),
    ]);
    const { derived } = await lineagePart({ events }, STREAM, first);
    const by = new Map(derived.map((one) => [one.memoryId, one.by]));
    expect(by.get('t1-0')).toEqual(['m0', 't0-0', 't0-1']);
    expect(by.get('t2-0')).toEqual(['m0', 't0-0', 't0-1']);
    expect(by.get('t3-0')).toEqual(Array.from({ length: 16 }, (_, n) => `t0-${String(n + 2)}`));
  });

  it.each([
    [
      '1,000 memories',
      (more: number) => [
        ...[recalled('t0', 'A lie.'), verdict('t0', true)],
        ...Array.from({ length: 999 + more }, (_, n) => memoryStored(`t0-${String(n)}`, 'So.', 't0')),
      ],
      999,
    ],
    [
      '32 steps',
      (more: number) =>
        Array.from({ length: 32 + more }, (_, n) => [
          recalled(`t${String(n)}`, n === 0 ? 'A lie.' : `Lie ${String(n)}.`),
          ...told(`t${String(n)}`, `Lie ${String(n + 1)}.`),
        ]).flat(),
      32,
    ],
    [
      '256 turns at a time',
      (more: number) => Array.from({ length: 256 + more }, (_, n) => recalled(`t${String(n)}`, 'A lie.')),
      0,
    ],
  ])('follow at most %s, and show that they were cut [10.12e]', async (_, eventsOf, most) => {
    for (const more of [0, 1]) {
      const events = await storeOf([memoryStored('m0', 'A lie.'), ...eventsOf(more)]);
      const part = await lineagePart({ events }, STREAM, first);
      expect([part.derived.length, part.cut]).toEqual([most, more === 1]);
      expect(part).not.toHaveProperty('next');
    }
  });

  it('end after a bounded number of events or bytes, even if every event ends its own turn [10.12d]', async () => {
    const context = (at: number): EventDraft => {
      const { type, data } = contextBuilt(`c${String(at)}`);
      return { type, data: { ...data, memories: recalled('t', 'A lie.').data['memories'] as never } };
    };
    const silent = (at: number): EventDraft => contextBuilt(`s${String(at)}`);
    const many = Array.from({ length: 9_000 }, (_, at) => context(at));
    const quiet = Array.from({ length: 21_000 }, (_, at) => silent(at));
    const events = await storeOf([memoryStored('m0', 'A lie.'), ...many, ...quiet]);
    const parts: Awaited<ReturnType<typeof lineagePart>>[] = [];
    let cursor: string | undefined;
    do {
      parts.push(await lineagePart({ events }, STREAM, first, cursor));
      cursor = parts.at(-1)?.next;
    } while (cursor !== undefined);
    for (const { recalledBy } of parts) expect(JSON.stringify(recalledBy).length).toBeLessThan(1024 * 1024);
    expect(parts.length).toBeGreaterThanOrEqual(3);
    expect(new Set(parts.flatMap(({ recalledBy }) => recalledBy.map(({ turnId }) => turnId))).size).toBe(9_000);
  });

  it('end after the memories of a verdict, not between them', async () => {
    const events = await storeOf([
      ...[memoryStored('m0', 'A lie.'), recalled('t1', 'A lie.'), ...busy(19_998)],
      ...[...told('t1', 'Worse.'), memoryStored('t1-1', 'Bad.', 't1'), ...busy(1_000)],
    ]);
    const part = await lineagePart({ events }, STREAM, first);
    expect(part.derived.map(({ memoryId }) => memoryId)).toEqual(['t1-0', 't1-1']);
    expect(part.next).toBeDefined();
    expect(await lineagePart({ events }, STREAM, first, part.next)).toEqual({
      recalledBy: [],
      derived: [],
      cut: false,
    });
  });

  it('end when they are full, and lose nothing', async () => {
    const count = 200;
    const events = await storeOf([
      memoryStored('m0', 'A lie.'),
      ...Array.from({ length: count }, (_, n) => [
        recalled(`t${String(n)}`, 'A lie.'),
        ...told(`t${String(n)}`, `${String(n)} ${'x'.repeat(8_000)}`),
      ]).flat(),
      ...busy(500),
    ]);
    let [parts, derived] = [0, 0];
    let cursor: string | undefined;
    do {
      const part = await lineagePart({ events }, STREAM, first, cursor);
      [parts, derived] = [parts + 1, derived + part.derived.length];
      cursor = part.next;
    } while (cursor !== undefined);
    expect(derived).toBe(count);
    expect(parts).toBeGreaterThan(1);
  });

  it('refuse a cursor that names something other than a memory, or nothing', async () => {
    const events = await storeOf([memoryStored('m0', 'A lie.'), recalled('t1', 'A lie.')]);
    for (const cursor of ['', 'x', '2~1.1-~', '2~0.0-~', '2~9.1-~', '2~~9-'])
      await expect(lineagePart({ events }, STREAM, first, cursor), cursor).rejects.toMatchObject({
        code: 'SCHEMA_INVALID',
      });
  });
});
