import { describe, expect, it } from 'vitest';

import { retractions } from '../../projections/retractions.js';
import { npcStream } from '../../src/kernel/base/stream-names.js';
import { givenRowsOf } from '../support/given.js';
import { draftOf } from '../support/histories.js';

const mira = npcStream('studio', 'mira');

describe('retractions', () => {
  it('say what was retracted, when, by whom and why [10.12s]', () => {
    const data = { memoryIds: ['m1', 'm2'], reason: 'A lie.', roots: ['m1'] };
    const rows = givenRowsOf(retractions, mira)(draftOf({ type: 'MemoriesRetracted', data })).state;
    expect([...rows.values()]).toEqual([
      {
        tenant: 'studio',
        npcId: 'mira',
        revision: 0,
        at: '2026-01-01T00:00:00.000Z',
        by: 'key-1',
        ...data,
        position: 1,
      },
    ]);
    expect([...rows.values()].map((row) => retractions.indexOf(row))).toEqual([
      { partition: 'studio', order: '0000000000000001', tag: mira },
    ]);
  });
});
