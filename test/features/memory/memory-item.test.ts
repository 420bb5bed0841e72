import { describe, expect, it } from 'vitest';

import type { MemoryRow } from '../../../projections/memories.js';
import { agentMemoryOf, itemOf } from '../../../src/features/memory/memory-item.js';

const row: MemoryRow = {
  kind: 'memory',
  memoryId: 't1-0',
  text: 'It rained.',
  type: 'observation',
  importance: 0.5,
  at: '2026-01-01T00:00:01.000Z',
  turnId: 't1',
  eventId: '0190a0a0-0000-7000-8000-000000000000',
  revision: 3,
  confirmedAt: 5,
  stream: 'npc-studio.mira',
};

describe('a memory in the protocol family', () => {
  it('is shown in both vocabularies [3.1a]', () => {
    expect(itemOf(row, { similarity: 0.7 })).toEqual({
      id: 't1-0',
      memoryId: 't1-0',
      text: 'It rained.',
      content: 'It rained.',
      type: 'observation',
      importance: 0.5,
      similarity: 0.7,
      embedding: [],
      timestamp: 1_767_225_601_000,
      createdAt: '2026-01-01T00:00:01.000Z',
      confirmed: true,
      cause: { turnId: 't1', eventId: '0190a0a0-0000-7000-8000-000000000000', revision: 3 },
    });
  });

  it('is confirmed as of a revision if it was confirmed by then [3.1e]', () => {
    const confirmed = (confirmedAt: number | null, asOf?: number) =>
      itemOf({ ...row, confirmedAt }, { similarity: 1, asOf }).confirmed;
    expect([confirmed(null), confirmed(null, 9), confirmed(5, 4), confirmed(5, 5)]).toEqual([
      false,
      false,
      false,
      true,
    ]);
  });
});

describe('a memory in the agent family', () => {
  it('has its time as a date, and metadata even if it is empty [3.5a]', () => {
    const shown = { id: 't1-0', text: 'It rained.', type: 'observation', timestamp: '2026-01-01T00:00:01.000Z' };
    expect(agentMemoryOf(row)).toEqual({ ...shown, metadata: {} });
    expect(agentMemoryOf({ ...row, metadata: { place: 'inn' } })).toEqual({ ...shown, metadata: { place: 'inn' } });
  });
});
