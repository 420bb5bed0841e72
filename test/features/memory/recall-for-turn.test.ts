import { describe, expect, it } from 'vitest';

import { recallForTurn } from '../../../src/features/memory/recall-for-turn.js';
import type { RecallQuery } from '../../../src/features/memory/recall.js';
import { memoryRow } from '../../support/recall-scene.js';

describe('the recall of a turn', () => {
  it('records when each memory was stored, by the server and by the game [13.3f]', async () => {
    const asked: RecallQuery[] = [];
    const found = [memoryRow(1, 'Rain.', { gameTime: 60 }), memoryRow(2, 'Wind.')].map((row) => ({
      ...{ row, score: 0.7, scoreParts: { meaning: 0.7 } },
    }));
    const recall = (query: RecallQuery) => {
      asked.push(query);
      return Promise.resolve({ memories: found, embedder: 'words@1', pending: 0, byWords: null, revision: 2 });
    };
    const query = { tenant: 'studio', npcId: 'mira', query: 'weather', limit: 5, player: 'ada' };
    const { memories, recall: basis } = await recallForTurn(recall, { ...query, threshold: 0.5 });
    const [first, second] = memories;
    expect(basis).toEqual({ embedder: 'words@1', pending: 0 });
    expect(first).toEqual({
      ...{ text: 'Rain.', type: 'observation', importance: 0.5, similarity: 0.7, memoryId: 'm1', revision: 1 },
      ...{ storedAt: '2026-01-01T00:00:00.000Z', gameTime: 60, scoreParts: { meaning: 0.7 } },
    });
    expect(second).not.toHaveProperty('gameTime');
    expect(asked).toEqual([{ ...query, minScore: 0.5, statementsFirst: true }]);
  });
});
