import { describe, expect, it } from 'vitest';

import { soulMemories, type SoulMemoriesDeps } from '../../../src/features/souls/soul-memories.js';
import { initialMind } from '../../../src/features/npcs/domain/state.js';
import { MAX_SOUL_BYTES } from '../../../src/features/souls/domain/bounds.js';
import { memoryRow } from '../../support/recall-scene.js';

/** A read model of one mind with this many pages of memories, each of 500 with this much content. */
const pages = (count: number, metadataBytes: number) => {
  let read = 0;
  const readModels = {
    reached: () => Promise.resolve(true),
    list: (_: unknown, { direction }: { direction: string }) => {
      if (direction === 'descending') return Promise.resolve({ rows: [], more: false });
      read += 1;
      const rows = Array.from({ length: 500 }, (_, at) => {
        const revision = read * 500 + at;
        const metadata = { notes: 'x'.repeat(metadataBytes) };
        return { order: String(revision), row: { ...memoryRow(revision, 'It rained.'), metadata } };
      });
      return Promise.resolve({ rows, more: read < count });
    },
  };
  const writers = { current: () => Promise.resolve({ state: initialMind, revision: 0 }) };
  const deps = { readModels, events: {}, writers } as unknown as SoulMemoriesDeps;
  return { deps, pagesRead: () => read };
};
const never = new AbortController().signal;

describe('the memories of a soul', () => {
  it('are all memories of a mind at a revision', async () => {
    const { deps } = pages(3, 10);
    expect(await soulMemories(deps, 'npc-studio.mira', 9_999, never)).toHaveLength(1_500);
  });

  it('have the time of the game [13.3b]', async () => {
    const readModels = {
      reached: () => Promise.resolve(true),
      list: (_: unknown, { direction }: { direction: string }) =>
        Promise.resolve({
          rows: direction === 'descending' ? [] : [{ order: '1', row: memoryRow(1, 'It rained.', { gameTime: 7 }) }],
          more: false,
        }),
    };
    const writers = { current: () => Promise.resolve({ state: initialMind, revision: 0 }) };
    const deps = { readModels, events: {}, writers } as unknown as SoulMemoriesDeps;
    expect(await soulMemories(deps, 'npc-studio.mira', 9, never)).toMatchObject([{ gameTime: 7 }]);
  });

  it('are refused as soon as they are too large, including their metadata', async () => {
    const { deps, pagesRead } = pages(1_000, 16_000);
    await expect(soulMemories(deps, 'npc-studio.mira', 999_999, never)).rejects.toMatchObject({
      code: 'SOUL_TOO_LARGE',
      details: { limitBytes: MAX_SOUL_BYTES },
    });
    expect(pagesRead()).toBeLessThan(4);
  });
});
