import { describe, expect, it } from 'vitest';

import { memories, type MemoryRow } from '../../../projections/memories.js';
import { retractions } from '../../../projections/retractions.js';
import { readCard } from '../../../src/features/cards/domain/read-card.js';
import { retractedLore } from '../../../src/features/cards/retracted-lore.js';
import { initialMind } from '../../../src/features/npcs/domain/state.js';
import { rowKey } from '../../../src/kernel/read-models/row-key.js';
import type { Projection, ReadModels } from '../../../src/ports/read-models.js';
import { memoryRow } from '../../support/recall-scene.js';
import { STREAM } from '../../support/streams.js';
import { v1Card } from './domain/cards.js';

const LIE = 'The baker poisoned the well.';
const card = readCard({
  ...v1Card,
  character_book: { entries: [LIE, 'It is deep.'].map((content) => ({ keys: [], content, enabled: true })) },
});
const knowledge = { type: 'knowledge' };
const ofCard = { ...knowledge, metadata: { card: 'Mira' } };

/** The read models of a mind with these memories, of which two are read at a time; `read` are the ids of all that were read. */
const knowing = (rows: readonly MemoryRow[]) => {
  const read: string[] = [];
  const gone = rows.filter(({ retractedAt }) => retractedAt !== undefined);
  const paged = <Row>(all: readonly Row[], beyond: string | undefined) => {
    const from = beyond === undefined ? 0 : Number(beyond) + 1;
    const found = all.slice(from, from + 2).map((row, at) => ({ key: '', order: String(from + at), row }));
    return { rows: found, more: from + 2 < all.length };
  };
  const readModels = {
    reached: () => Promise.resolve(true),
    getAll: (_: Projection, keys: readonly string[]) => {
      const found = rows.filter(({ memoryId }) => keys.includes(rowKey(STREAM, memoryId)));
      read.push(...found.map(({ memoryId }) => memoryId));
      return Promise.resolve(new Map(found.map((row) => [rowKey(STREAM, row.memoryId), row])));
    },
    list: (projection: Projection, { tags, beyond }: { tags?: readonly string[]; beyond?: string }) => {
      if (projection.name === retractions.name) {
        return Promise.resolve(
          paged(
            gone.map(({ memoryId }) => ({ memoryIds: [memoryId] })),
            beyond,
          ),
        );
      }
      expect([projection.name, tags]).toEqual([memories.name, ['knowledge']]);
      const page = paged(
        rows.filter(({ type }) => type === 'knowledge'),
        beyond,
      );
      read.push(...page.rows.map(({ row }) => row.memoryId));
      return Promise.resolve(page);
    },
  } as unknown as ReadModels;
  return { readModels, read };
};
const mind = { memories: { ...initialMind.memories, retractedAt: 99 } };
const loreAfter = async (...rows: readonly MemoryRow[]) => {
  const { readModels, read } = knowing(rows);
  const { texts, ofCards } = await retractedLore(readModels, STREAM, mind, card);
  return { texts: [...texts], ofCards, read: read.length };
};
const retracted = { retractedAt: 99 };

describe('retracted lore', () => {
  it('is that of every type whose text the card has, also after many others [10.12q]', async () => {
    const others = Array.from({ length: 5 }, (_, at) => memoryRow(at, `${String(at)} o'clock.`, retracted));
    expect(await loreAfter(...others, memoryRow(9, LIE, retracted))).toMatchObject({ texts: [LIE], ofCards: false });
  });

  it('is found without reading what stands, unless some of it was retracted [10.12q]', async () => {
    const standing = Array.from({ length: 500 }, (_, at) => memoryRow(at, `${String(at)} o'clock.`, knowledge));
    const gone = memoryRow(900, 'It is late.', { ...knowledge, ...retracted });
    expect(await loreAfter(...standing, gone)).toEqual({ texts: [], ofCards: false, read: 1 });
  });

  it('came from a card, even if this card does not have it [8.9ad]', async () => {
    expect(await loreAfter(memoryRow(1, 'Old lore.', { ...ofCard, ...retracted }))).toMatchObject({ ofCards: true });
  });

  it('is no longer retracted if another memory has its text [8.9ad]', async () => {
    const gone = memoryRow(1, LIE, { ...ofCard, ...retracted });
    expect(await loreAfter(gone, memoryRow(2, LIE, knowledge))).toMatchObject({ texts: [], ofCards: false });
  });
});
