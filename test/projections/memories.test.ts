import type { EventDraft } from '../../src/kernel/base/event-draft.js';
import { describe, expect, it } from 'vitest';

import { clearsOf, memories, memoriesListed, type MemoriesRow } from '../../projections/memories.js';
import { rowKey } from '../../src/kernel/read-models/row-key.js';
import { hearersWith } from '../../src/features/memory/domain/kept-apart.js';
import { npcStream } from '../../src/kernel/base/stream-names.js';
import { givenRowsOf } from '../support/given.js';
import { draftOf, memoryStored, recorded } from '../support/histories.js';

const mira = npcStream('studio', 'mira');
const given = givenRowsOf(memories, mira);
const rowsAfter = (...events: readonly EventDraft[]): readonly MemoriesRow[] => [...given(...events).state.values()];
const confirmed = (memoryId: string): EventDraft => draftOf({ type: 'MemoryConfirmed', data: { memoryId } });
const cleared = draftOf({ type: 'MemoriesCleared', data: { count: 1 } });

describe('the list of memories', () => {
  it('shows a memory with its members, and the event that stored it', () => {
    const [stored] = recorded(mira, [memoryStored('t1-0', 'It rained.', 't1')]);
    expect([...given(memoryStored('t1-0', 'It rained.', 't1')).state]).toEqual([
      [
        rowKey(mira, 't1-0'),
        {
          kind: 'memory',
          memoryId: 't1-0',
          text: 'It rained.',
          type: 'observation',
          importance: 0.5,
          at: '2026-01-01T00:00:00.000Z',
          turnId: 't1',
          eventId: stored?.id,
          revision: 0,
          confirmedAt: null,
          stream: mira,
        },
      ],
    ]);
  });

  it('keeps the metadata of an agent, and has no turn for a memory outside turns', () => {
    const metadata = { place: 'inn' };
    const event = draftOf({
      type: 'MemoryStored',
      data: { memoryId: 'm1', text: 'It rained.', type: 'knowledge', importance: 0.8, metadata },
    });
    expect(rowsAfter(event)).toMatchObject([{ metadata, turnId: null }]);
  });

  it('shows when a memory was first confirmed', () => {
    expect(rowsAfter(memoryStored('m1'), confirmed('m1'))).toMatchObject([{ confirmedAt: 1 }]);
    expect(rowsAfter(memoryStored('m1'), confirmed('m1'), confirmed('m1'))).toMatchObject([{ confirmedAt: 1 }]);
    expect(rowsAfter(confirmed('unknown'))).toEqual([]);
  });

  it('keeps cleared memories, and lists the clears separately', () => {
    const rows = rowsAfter(memoryStored('m1'), cleared, memoryStored('m2'), cleared);
    expect(rows.map((row) => [row.kind, row.revision])).toEqual([
      ['memory', 0],
      ['clear', 1],
      ['memory', 2],
      ['clear', 3],
    ]);
    expect(rows.map((row) => memories.indexOf(row))).toEqual([
      { partition: memoriesListed(mira), order: '0000000000000000', tag: 'observation' },
      { partition: clearsOf(mira), order: '0000000000000001', tag: '' },
      { partition: memoriesListed(mira), order: '0000000000000002', tag: 'observation' },
      { partition: clearsOf(mira), order: '0000000000000003', tag: '' },
    ]);
    expect(rows.map((row) => memories.textOf?.(row))).toEqual(['It rained.', null, 'It rained.', null]);
  });

  it('groups the text of a memory by who may hear it [12.2b]', () => {
    const told = (id: string, type: string): EventDraft =>
      draftOf({
        type: 'MemoryStored',
        data: { memoryId: `${id} ${type}`, text: 'It rained.', type, importance: 0.5, player: { id, from: 'body' } },
      });
    const rows = rowsAfter(
      memoryStored('m1'),
      told('ann', 'observation'),
      told('ann', 'knowledge'),
      told('', 'emotion'),
      cleared,
    );
    const [everybody, ann, ...others] = rows.map((row) => memories.textGroupOf?.(row));
    expect(hearersWith('ann')).toEqual([everybody, ann]);
    expect(others).toEqual([everybody, null, null]);
  });

  it('makes a legal tag of any type that a model may have written', () => {
    const odd = draftOf({
      type: 'MemoryStored',
      data: { memoryId: 'm1', text: 'It rained.', type: 'a\0b', importance: 0.5 },
    });
    expect(rowsAfter(odd).map((row) => memories.indexOf(row).tag)).toEqual(['a\uFFFDb']);
    expect(rowsAfter(odd)).toMatchObject([{ type: 'a\0b' }]);
  });

  it('excludes forks', () => {
    expect(givenRowsOf(memories, `${mira}~fork`)(memoryStored('m1'), cleared).state.size).toBe(0);
  });
});
